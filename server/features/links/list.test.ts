import { beforeAll, describe, expect, test } from 'bun:test'
import { onBothEngines, type TestWorkspace } from '../../../tests/support/world.ts'
import { LINK_SORTS, type LinkResource } from './schema.ts'

const U = 'https://example.com/'

async function slugs(ws: TestWorkspace, query: string): Promise<string[]> {
  const { status, json } = await ws.api(`/links?${query}`)
  if (status !== 200) throw new Error(`${query}: ${status} ${JSON.stringify(json)}`)
  expect(json.total).toBe(json.data.length)
  return json.data.map(({ slug }: LinkResource) => slug).sort()
}

const create = async (ws: TestWorkspace, links: object[]): Promise<LinkResource[]> =>
  (
    await ws.post(
      '/links/bulk',
      links.map((link) => ({ destinationUrl: U, ...link })),
    )
  ).json.data

onBothEngines.quick('the list of links is filtered', (server) => {
  let ws: TestWorkspace
  let tagIds: Record<string, number>

  beforeAll(async () => {
    ws = await server().createWorkspace()
    const other = await server().createWorkspace()
    await create(other, [{ slug: 'theirs', title: 'spring', externalId: 'e1', tagNames: ['red'] }])
    await create(ws, [
      { slug: 'Spring-Sale', title: '50% off', tagNames: ['red'], externalId: 'e1' },
      { slug: 'summer_sale', title: 'snake_case', tagNames: ['red', 'blue'] },
      {
        slug: 'autumn',
        title: 'back\\slash',
        destinationUrl: 'https://shop.example/Herbst?x=1',
        tagNames: ['blue'],
      },
      { slug: 'Größe', title: 'ΟΔΟΣ Café', destinationUrl: 'https://münchen.example/straße' },
      { slug: 'old', title: 'spring of old', archived: true, externalId: 'E1', tagNames: ['red'] },
    ])
    const gone = await ws.createLink({ slug: 'gone', title: 'spring', tagNames: ['red'] })
    await ws.delete(`/links/${gone.id}`)
    const { json } = await ws.api('/tags')
    tagIds = Object.fromEntries(json.data.map(({ name, id }: { name: string; id: number }) => [name, id]))
  })

  test.each([
    ['', ['Größe', 'Spring-Sale', 'autumn', 'summer_sale']],
    ['archived=false', ['Größe', 'Spring-Sale', 'autumn', 'summer_sale']],
    ['archived=true', ['old']],
    ['archived=all', ['Größe', 'Spring-Sale', 'autumn', 'old', 'summer_sale']],
    ['search=spring', ['Spring-Sale']],
    ['search=SPRING&archived=all', ['Spring-Sale', 'old']],
    ['search=', ['Größe', 'Spring-Sale', 'autumn', 'summer_sale']],
    ['search=shop.example', ['autumn']],
    ['search=herbst?x', ['autumn']],
    // The second link matches by its encoded destination.
    ['search=%25', ['Größe', 'Spring-Sale']],
    ['search=50%25 off', ['Spring-Sale']],
    ['search=_', ['summer_sale']],
    ['search=e_s', []],
    ['search=snake_', ['summer_sale']],
    ['search=%5C', ['autumn']],
    ['search=k%5Cs', ['autumn']],
    ['search=gr%C3%B6%C3%9Fe', ['Größe']],
    ['search=GRO%CC%88%E1%BA%9EE', ['Größe']],
    ['search=caf%C3%A9', ['Größe']],
    ['search=cafe', ['Größe']],
    ['search=CAF%C3%88', ['Größe']],
    ['search=gr%C3%B6sse', ['Größe']],
    ['search=munchen.example', ['Größe']],
    ['search=%C5%9Fpr%C3%AFng-s%C3%A5l%C3%A9', ['Spring-Sale']],
    ['search=%CC%88', []],
    ['search={url}/Spring-Sale', ['Spring-Sale']],
    ['search={url}/SPRING-sale?qr=1', ['Spring-Sale']],
    ['search=  {url}/spring-sale/ ', ['Spring-Sale']],
    ['search={host}/spring-sale', ['Spring-Sale']],
    ['search={host}/sp', ['Spring-Sale']],
    ['search={url}/sp', []],
    ['search={url}/Gr%25C3%25B6%25C3%259Fe', ['Größe']],
    ['search={host}/gr%C3%B6%C3%9Fe', ['Größe']],
    ['search={host}/grosse', ['Größe']],
    ['search={url}', ['Größe', 'Spring-Sale', 'autumn', 'summer_sale']],
    ['search={host}/', ['Größe', 'Spring-Sale', 'autumn', 'summer_sale']],
    ['search=https://other.example/spring-sale', []],
    ['search=other.example/spring-sale', []],
    ['search=/spring-sale', []],
    ['search={url}/ale', []],
    ['search={url}/theirs', []],
    ['search=%CE%BF%CE%B4%CE%BF%CF%83', ['Größe']],
    ['search=m%C3%BCnchen.example/STRA%C3%9Fe', ['Größe']],
    ['search=xn--mnchen-3ya', ['Größe']],
    ['search=stra%25C3%259Fe', ['Größe']],
    ['search=nothing', []],
    // A search does not match across two fields.
    ['search=autumn https', []],
    ["search=' or 1=1 --", []],
    ['externalId=e1', ['Spring-Sale']],
    ['externalId=E1', []],
    ['externalId=E1&archived=all', ['old']],
    ['tagId={red}', ['Spring-Sale', 'summer_sale']],
    ['tagId={red},{blue}', ['Spring-Sale', 'autumn', 'summer_sale']],
    ['tagId={red}&tagId={blue}', ['Spring-Sale', 'autumn', 'summer_sale']],
    ['tagId={red}&search=summer', ['summer_sale']],
    ['tagId=999999', []],
    ['domain={host}', ['Größe', 'Spring-Sale', 'autumn', 'summer_sale']],
    ['domain=LOCAL.example', []],
  ])('%s', async (template, expected) => {
    const query = template
      .replace('{red}', String(tagIds.red))
      .replace('{blue}', String(tagIds.blue))
      .replace('{host}', new URL(server().origin).host.toUpperCase())
      .replace('{url}', server().origin)
    expect(await slugs(ws, query)).toEqual(expected)
  })

  test('by a short URL as it stands in a text, with what is before and behind it', async () => {
    const { shortUrl, slug } = await ws.createLink({ slug: 'in-a-text' })
    await ws.createLink({ slug: 'in-a-text-too' })
    const typed = shortUrl.replace('http://', '')
    for (const text of [
      `<${shortUrl}>`,
      `(${shortUrl}).`,
      `“${shortUrl}”,`,
      `${shortUrl}/`,
      `${shortUrl}+`,
      `${shortUrl}?a=b#c`,
      `${shortUrl}.?a=b`,
      shortUrl.toUpperCase(),
      shortUrl.replace('http:', 'https:'),
      ...[`${typed}?utm_source=mail`, `${typed}/`].map((each) => `https://${each}`),
    ])
      expect([text, await slugs(ws, `search=${encodeURIComponent(text)}`)]).toEqual([text, [slug]])
  })

  test('by a short URL that is longer than other texts may be', async () => {
    const { shortUrl, slug } = await ws.createLink({ slug: '価'.repeat(190), archived: true })
    expect(await slugs(ws, `archived=true&search=${encodeURIComponent(shortUrl)}`)).toEqual([slug])
    const { status } = await ws.api(`/links?search=${encodeURIComponent(`${shortUrl}12345678901`)}`)
    expect(status).toBe(422)
  })

  test('by the new slug, destination or title after a change', async () => {
    const own = await server().createWorkspace()
    const link = await own.createLink({
      slug: `find-${server().engine}`,
      title: 'first',
      destinationUrl: 'https://one.example/',
    })
    for (const body of [
      { title: 'second' },
      { destinationUrl: 'https://two.example/' },
      { slug: `seek-${server().engine}` },
    ])
      await own.patch(`/links/${link.id}`, body)
    for (const word of ['first', 'one.example', 'find-'])
      expect([word, await slugs(own, `search=${word}`)]).toEqual([word, []])
    for (const word of ['second', 'two.example', 'seek-'])
      expect([word, await slugs(own, `search=${word}`)]).toEqual([word, [`seek-${server().engine}`]])
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=5&limit=6', 'limit'],
    ['sort=title', 'sort'],
    ['order=up', 'order'],
    ['archived=yes', 'archived'],
    ['tagId=x', 'tagId'],
    ['tagId=', 'tagId'],
    ['page=2', 'page'],
    [`search=${'x'.repeat(201)}`, 'search'],
    ['search=a%00b', 'search'],
    ['cursor=', 'cursor'],
    ['cursor=nonsense', 'cursor'],
    [`cursor=${Buffer.from('["links createdAt desc","text",1]').toString('base64url')}`, 'cursor'],
    [`cursor=${Buffer.from('["links createdAt desc",1.5,1]').toString('base64url')}`, 'cursor'],
    [`cursor=${Buffer.from('["slug desc",5,1]').toString('base64url')}&sort=slug`, 'cursor'],
  ])('refuses %s, and names the parameter', async (query, name) => {
    const { status, json } = await ws.api(`/links?${query}`)
    expect([status, Object.keys(json.errors)]).toEqual([422, [name]])
  })
})

onBothEngines.quick('the list of links is sorted', (server) => {
  const ROWS = 23
  let ws: TestWorkspace
  let links: LinkResource[]

  /** Equal counts and times, as batches of clicks leave them. */
  beforeAll(async () => {
    ws = await server().createWorkspace()
    links = await create(
      ws,
      Array.from({ length: ROWS }, (_, i) => ({ slug: `${'zäB_a'[i % 5]}${i}-${server().engine}` })),
    )
    await server().app.db.write(async (connection) => {
      for (const [i, { id }] of links.entries()) {
        await connection
          .updateTable('links')
          .set({
            clicks: i % 4,
            last_clicked_at: i % 4 ? 1_700_000_000_000 + (i % 3) : null,
            created_at: 1_700_000_000_000 + (i % 5),
          })
          .where('id', '=', id)
          .execute()
      }
    })
    links = (await ws.api('/links?limit=100')).json.data
  })

  const keyOf = {
    createdAt: (link: LinkResource) => link.createdAt,
    clicks: (link: LinkResource) => link.clicks,
    lastClickedAt: (link: LinkResource) => link.lastClickedAt ?? '',
    slug: (link: LinkResource) => Buffer.from(link.slug.toLowerCase()).toString('hex'),
  }

  describe.each([...LINK_SORTS])('by %s', (sort) => {
    test.each(['asc', 'desc'])('%s, ties by id, with pages of any size', async (order) => {
      const sign = order === 'asc' ? 1 : -1
      const expected = links
        .toSorted((a, b) => {
          const [x, y] = [keyOf[sort](a), keyOf[sort](b)]
          return sign * (x < y ? -1 : x > y ? 1 : a.id - b.id)
        })
        .map(({ id }) => id)
      for (const limit of [4, 23, 100]) {
        const walked: number[] = []
        let next: string | null = ''
        while (next !== null) {
          const page = await ws.api(
            `/links?sort=${sort}&order=${order}&limit=${limit}${next && `&cursor=${next}`}`,
          )
          expect([page.status, page.json.total]).toEqual([200, ROWS])
          expect(page.json.data.length).toBeLessThanOrEqual(limit)
          walked.push(...page.json.data.map(({ id }: LinkResource) => id))
          next = page.json.nextCursor
        }
        expect(walked).toEqual(expected)
      }
    })
  })

  test('newest first by default, 50 at a time', async () => {
    const own = await server().createWorkspace()
    const made = [...(await create(own, Array(40).fill({}))), ...(await create(own, Array(20).fill({})))]
    const first = (await own.api('/links')).json
    expect([first.data.length, first.total]).toEqual([50, 60])
    const rest = (await own.api(`/links?cursor=${first.nextCursor}`)).json
    expect([rest.data.length, rest.nextCursor]).toEqual([10, null])
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(made.map(({ id }) => id).toReversed())
  })

  test('and is compressed for a client that takes gzip, and for no other', async () => {
    const ask = (encoding: string) =>
      fetch(`${server().origin}/v1/links`, {
        headers: { Authorization: `Bearer ${ws.key}`, 'Accept-Encoding': encoding },
        decompress: false,
      })
    const [zipped, plain] = await Promise.all([ask('br, gzip'), ask('gzip;q=0')])
    expect([zipped, plain].map(({ headers }) => headers.get('content-encoding'))).toEqual(['gzip', null])
    expect([zipped, plain].map(({ headers }) => headers.get('vary'))).toEqual(
      Array(2).fill('Accept-Encoding'),
    )
    const bytes = new Uint8Array(await zipped.arrayBuffer())
    expect(new TextDecoder().decode(Bun.gunzipSync(bytes))).toBe(await plain.text())
  })

  test('and refuses a cursor of another order', async () => {
    const { nextCursor } = (await ws.api('/links?limit=2&sort=clicks')).json
    for (const query of ['', 'sort=slug', 'sort=clicks&order=asc', 'sort=lastClickedAt']) {
      const { status, json } = await ws.api(`/links?${query}&cursor=${nextCursor}`)
      expect([query, status, Object.keys(json.errors)]).toEqual([query, 422, ['cursor']])
    }
  })

  test.each([
    ['createdAt', 'desc'],
    ['createdAt', 'asc'],
    ['slug', 'asc'],
    ['clicks', 'desc'],
  ])(
    'pages by %s %s show every link that stays exactly once while others come and go',
    async (sort, order) => {
      const own = await server().createWorkspace()
      const original = await create(own, Array(25).fill({}))
      const removed = new Set<number>()
      const seen: number[] = []
      let next: string | null = ''
      while (next !== null) {
        const page = await own.api(`/links?limit=4&sort=${sort}&order=${order}${next && `&cursor=${next}`}`)
        const ids: number[] = page.json.data.map(({ id }: LinkResource) => id)
        seen.push(...ids)
        next = page.json.nextCursor
        // Delete the row of the cursor and a later row, and add new rows.
        const ahead = original.find(({ id }) => !seen.includes(id) && !removed.has(id))
        const going = [ids.at(-1), seen.length < 20 ? ahead?.id : undefined].filter((id) => id !== undefined)
        if (next !== null) {
          for (const id of going) removed.add(id)
          await own.delete(`/links/bulk?ids=${going}`)
          if (seen.length < 40) await create(own, [{}, {}])
        }
      }
      for (const { id } of original) {
        const times = seen.filter((one) => one === id).length
        expect([id, times]).toEqual([id, removed.has(id) ? Math.min(times, 1) : 1])
      }
      expect(new Set(seen).size).toBe(seen.length)
    },
  )
})
