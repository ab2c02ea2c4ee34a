"""An interpreter and a fixed program: with `static=` what is left is the program."""

import minijit

RULES = (("price", "<", 100), ("stock", ">", 0), ("name", "!=", ""))


def passes(rules, item):
    for field, operator, limit in rules:
        value = item[field]
        if operator == "<":
            good = value < limit
        elif operator == ">":
            good = value > limit
        else:
            good = value != limit
        if not good:
            return False
    return True


def failing(rules, items):
    for item in items:
        if not passes(rules, item):
            yield item


ITEMS = [
    {"name": "tea", "price": 3, "stock": 10},
    {"name": "car", "price": 9000, "stock": 1},
    {"name": "", "price": 1, "stock": 1},
]


def main():
    expected = [passes(RULES, item) for item in ITEMS]
    compiled = minijit.compile(static=("rules",))(passes)
    for _ in range(5):
        assert [compiled(RULES, item) for item in ITEMS] == expected
    print(expected, minijit.stats(compiled).state)


if __name__ == "__main__":
    main()
