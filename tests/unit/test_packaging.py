"""What is installed is what is in the tree."""

import configparser
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FOLDERS = {"minijit": "minijit", "minijit.interpreter": "interpreter", "minijit.codegen": "codegen"}


@pytest.fixture
def configuration():
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def packages_of(name, folder):
    """The package and those below it; the folders of other packages are not inside it."""
    return {".".join([name, *path.parent.relative_to(ROOT / folder).parts]) for path in (ROOT / folder).rglob("*.py")}


def test_every_package_is_listed(configuration):
    listed = configuration["options"]["packages"].split()
    assert len(listed) == len(set(listed))
    assert set(listed) == set().union(*(packages_of(name, folder) for name, folder in FOLDERS.items()))


def test_only_minijit_is_a_name_of_its_own(configuration):
    listed = configuration["options"]["packages"].split()
    assert {name.split(".")[0] for name in listed} == {"minijit"}
    directories = dict(line.split(" = ") for line in configuration["options"]["package_dir"].strip().splitlines())
    assert directories == {name: folder for name, folder in FOLDERS.items() if name != folder}


def test_every_package_is_a_package():
    missing = [path.parent for folder in FOLDERS.values() for path in (ROOT / folder).rglob("*.py")
               if not (path.parent / "__init__.py").exists()]
    assert missing == []


def test_the_shims_sources_are_shipped(configuration):
    patterns = [pattern.strip() for pattern in configuration["options.package_data"]["minijit"].split(",")]
    wanted = [*(ROOT / "minijit").glob("*.c"), *(ROOT / "minijit").glob("*.pyi"), *(ROOT / "minijit/shim").iterdir(),
              ROOT / "minijit/py.typed"]
    for path in wanted:
        relative = path.relative_to(ROOT / "minijit")
        assert any(relative.match(pattern) for pattern in patterns), relative
