"""News: the newest word reaches every listener, and none of them holds up the others."""

import asyncio

from overruler.apps.web.phone.news import News, NewsChannel


def test_each_listener_hears_what_is_told_on_its_topic() -> None:
    async def act() -> list[News]:
        channel = NewsChannel()
        ears = [channel.subscribe("a"), channel.subscribe("a"), channel.subscribe("b")]
        waiting = [asyncio.ensure_future(anext(ear)) for ear in ears]
        await asyncio.sleep(0)
        channel.publish("a", {"n": 1})
        channel.publish("b", {"n": 2})
        return await asyncio.gather(*waiting)

    assert asyncio.run(act()) == [{"n": 1}, {"n": 1}, {"n": 2}]


def test_who_does_not_read_misses_what_was_overtaken_and_not_the_newest() -> None:
    async def act() -> News:
        channel = NewsChannel()
        ear = channel.subscribe("a")
        first = asyncio.ensure_future(anext(ear))
        await asyncio.sleep(0)
        for number in range(1000):
            channel.publish("a", {"n": number})
        await first
        return await anext(ear) if (await first)["n"] < 999 else await first

    assert asyncio.run(act()) == {"n": 999}


def test_who_has_gone_is_forgotten() -> None:
    async def act() -> int:
        channel = NewsChannel()
        ear = channel.subscribe("a")
        waiting = asyncio.ensure_future(anext(ear))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await ear.aclose()
        channel.publish("a", {"n": 1})
        return len(channel._queues)

    assert asyncio.run(act()) == 0
