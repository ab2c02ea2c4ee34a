"""Small objects that compiled code never builds."""

import minijit


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


def energy(a, b, mass):
    total = Vector(a, b) + Vector(b, a)
    return mass * total.dot(total) / 2


def main():
    expected = energy(1.0, 2.0, 3.0)
    minijit.compile(energy)
    results = {energy(1.0, 2.0, 3.0) for _ in range(5)}
    assert results == {expected}, results
    print(energy(1.0, 2.0, 3.0), minijit.stats(energy).state)


if __name__ == "__main__":
    main()
