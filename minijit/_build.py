"""Build hook named in setup.cfg: adds the C shim, which setup.cfg cannot declare."""

from pathlib import Path

from setuptools import Extension
from setuptools.command.bdist_wheel import bdist_wheel


class BdistWheel(bdist_wheel):
    """A wheel that contains minijit._shim, and is tagged as platform-specific."""

    def initialize_options(self) -> None:
        """Add the shim before setuptools asks whether the wheel is pure Python."""
        headers = sorted(str(path) for path in Path("minijit/shim").glob("*.h"))
        self.distribution.ext_modules = [
            Extension("minijit._shim", ["minijit/_shim.c"], include_dirs=["minijit"], depends=headers),
        ]
        super().initialize_options()
