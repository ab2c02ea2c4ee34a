"""Effects that callers see: they happen, in order, and what is between them is gone."""

import minijit


class Cart:
    def __init__(self):
        self.items = []
        self.total = 0

    def add(self, name, price):
        self.items.append(name)
        self.total = self.total + price


def order(cart, discount):
    for name, price in (("tea", 3), ("milk", 2)):
        cart.add(name, price - discount)
    return cart.total


def main():
    plain = Cart()
    expected = order(plain, 1)
    minijit.compile(order)
    for _ in range(5):
        cart = Cart()
        assert order(cart, 1) == expected
        assert vars(cart) == vars(plain)
    print(vars(cart), minijit.stats(order).state)


if __name__ == "__main__":
    main()
