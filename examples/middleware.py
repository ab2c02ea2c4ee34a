"""Closures around closures: a chain of handlers becomes one straight line."""

import minijit


def base(request):
    return request + 1


def logged(handler, log):
    def handle(request):
        log.append(request)
        return handler(request)

    return handle


def scaled(handler, factor):
    def handle(request):
        return handler(request * factor)

    return handle


LOG = []
APPLICATION = scaled(logged(base, LOG), 3)


def serve(request):
    return APPLICATION(request)


def main():
    expected = [serve(number) for number in range(5)]
    minijit.compile(serve)
    LOG.clear()
    assert [serve(number) for number in range(5)] == expected
    assert LOG == [0, 3, 6, 9, 12]
    print(expected, minijit.stats(serve).state)


if __name__ == "__main__":
    main()
