import { expect, test } from 'bun:test'
import { full } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'
import type { LinkResource } from '../schema.ts'
import { countClicks, getCountedBatch } from './count-clicks.ts'

const ROBOT = { 'User-Agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' }

onBothEngines('the counters of a link', (server) => {
  test('count human clicks, with the time of the last one', async () => {
    const ws = await server().createWorkspace()
    const [link, quiet] = [await ws.createLink({ slug: `counted-${ws.id}` }), await ws.createLink()]
    const before = server().now()
    for (let i = 0; i < 3; i++) expect((await server().click(link.slug)).status).toBe(302)
    await server().click(link.slug, ROBOT)
    await server().click(link.slug, { 'Sec-Purpose': 'prefetch' })
    await server().call(`/${link.slug}`, { method: 'HEAD' })
    await server().waitUntilShipped()
    const counted = (await ws.api(`/links/${link.id}`)).json.data
    expect(counted).toEqual({ ...link, clicks: 3, lastClickedAt: counted.lastClickedAt })
    expect(counted.lastClickedAt).toBe(new Date(counted.lastClickedAt).toISOString())
    expect(Date.parse(counted.lastClickedAt)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(counted.lastClickedAt)).toBeLessThanOrEqual(server().now())
    expect((await ws.api(`/links/${quiet.id}`)).json.data).toEqual(quiet)

    await server().click(link.slug)
    await server().waitUntilShipped()
    const again = (await ws.api(`/links/${link.id}`)).json.data
    expect(again.clicks).toBe(4)
    expect(again.lastClickedAt >= counted.lastClickedAt).toBe(true)
  })

  full('advance within two seconds', async () => {
    const ws = await server().createWorkspace()
    const { id, slug } = await ws.createLink()
    await server().click(slug)
    await until(
      'the click to be counted',
      async () => (await ws.api(`/links/${id}`)).json.data.clicks === 1,
      4_000,
    )
  })

  test('keep the clicks of a deleted link in the totals of the workspace, under its name', async () => {
    const ws = await server().createWorkspace()
    const [kept, gone] = [
      await ws.createLink({ slug: `kept-${ws.id}` }),
      await ws.createLink({ slug: `Gone-${ws.id}`, destinationUrl: 'https://example.org/x' }),
    ]
    for (const slug of [kept.slug, gone.slug, gone.slug]) await server().click(slug)
    await ws.delete(`/links/${gone.id}`)
    await server().click(gone.slug)
    await server().waitUntilShipped()
    const ask = async (query: string) => (await ws.api(`/analytics/clicks${query}`)).json.data
    expect(await ask('')).toMatchObject({ clicks: 3 })
    const byLink = await ask('?groupBy=link')
    expect(
      byLink.map(({ link, slug, destinationUrl, clicks }: Record<string, unknown>) => [
        link,
        slug,
        destinationUrl,
        clicks,
      ]),
    ).toEqual([
      [gone.id, gone.slug, 'https://example.org/x', 2],
      [kept.id, kept.slug, 'https://example.com/', 1],
    ])
    // A new link under the old slug starts at zero.
    await ws.delete(`/links/${gone.id}?permanent=true`)
    const heir = await ws.createLink({ slug: gone.slug })
    await server().click(heir.slug)
    await server().waitUntilShipped()
    expect((await ws.api(`/links/${heir.id}`)).json.data.clicks).toBe(1)
    const after: { link: number; clicks: number }[] = await ask('?groupBy=link')
    expect(after.map(({ link, clicks }) => [link, clicks]).toSorted()).toEqual(
      [
        [kept.id, 1],
        [gone.id, 2],
        [heir.id, 1],
      ].toSorted(),
    )
  })
})

onBothEngines.quick('batches of counts', (server) => {
  test('survive changes and a batch that is counted twice', async () => {
    const ws = await server().createWorkspace()
    const [a, b]: LinkResource[] = [await ws.createLink(), await ws.createLink()]
    if (!a || !b) throw new Error('two links')
    const { db } = server().app
    const node = `test-${ws.id}`
    const seen = async ({ id }: LinkResource) => {
      const { clicks, lastClickedAt } = (await ws.api(`/links/${id}`)).json.data
      return [clicks, lastClickedAt && Date.parse(lastClickedAt)]
    }
    expect(await getCountedBatch(db, node)).toBe(0)
    const first = {
      node,
      number: 1,
      counts: [
        [b.id, 2, 2000],
        [a.id, 5, 1000],
      ] as [number, number, number][],
    }
    await countClicks(db, first)
    await countClicks(db, first)
    expect([await seen(a), await seen(b), await getCountedBatch(db, node)]).toEqual([[5, 1000], [2, 2000], 1])

    // Another node has its own marks. An older click does not change the time of the last one.
    await countClicks(db, { node: `${node}-other`, number: 1, counts: [[a.id, 1, 500]] })
    await Promise.all(
      Array.from({ length: 5 }, () => countClicks(db, { node, number: 2, counts: [[a.id, 1, 3000]] })),
    )
    await countClicks(db, { ...first, number: 1 })
    await countClicks(db, { node, number: 3, counts: [] })
    await ws.patch(`/links/${a.id}`, { title: 'x' })
    expect([await seen(a), await seen(b), await getCountedBatch(db, node)]).toEqual([[7, 3000], [2, 2000], 3])

    // Counts of an unknown link are ignored.
    await countClicks(db, {
      node,
      number: 4,
      counts: [
        [999_999_999, 1, 1],
        [b.id, 1, 2001],
      ],
    })
    expect(await seen(b)).toEqual([3, 2001])
  })

  test('lose nothing when two nodes count the same links at once', async () => {
    const ws = await server().createWorkspace()
    const links: LinkResource[] = (
      await ws.post('/links/bulk', Array(10).fill({ destinationUrl: 'https://example.com/' }))
    ).json.data
    const counts = links.map(({ id }): [number, number, number] => [id, 1, 1])
    const nodes = Array.from({ length: 8 }, (_, i) => `${ws.id}-${i}`)
    await Promise.all(
      nodes.map((node, i) =>
        countClicks(server().app.db, { node, number: 1, counts: i % 2 ? counts : counts.toReversed() }),
      ),
    )
    expect((await ws.api('/links')).json.data.map((link: LinkResource) => link.clicks)).toEqual(
      Array(10).fill(8),
    )
  })
})
