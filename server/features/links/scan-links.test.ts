import { expect, test } from 'bun:test'
import { atScale } from '../../../tests/support/suite.ts'
import { linkRow } from '../../../tests/support/test-rows.ts'
import { onBothEngines, onSqlite } from '../../../tests/support/world.ts'
import { filterLinks } from './list.ts'
import { selectRange } from './scan-links.ts'

/** More than one step of a count, and several of a search. */
const LINKS = atScale({ quick: 2100, full: 4100, soak: 4100 })
const AT_ONCE = 500

onBothEngines('a list of thousands of links', (server) => {
  test('has its total, its order and each link once, whatever the filters', async () => {
    const [workspace, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const { id: _, ...some } = linkRow({ id: 0 })
    const toRow = (n: number) => ({
      ...some,
      slug: `many${n}`,
      slug_key: `many${n}`,
      updated_at: n,
      // The ids of two workspaces alternate.
      workspace_id: n % 2 === 0 ? workspace.id : other.id,
      archived: n % 3 === 0 ? 1 : 0,
      search_text: n % 5 === 0 ? 'needle' : 'hay',
      last_clicked_at: n % 7 === 0 ? n : null,
      clicks: n % 11,
      created_at: n,
    })
    const rows = Array.from({ length: 2 * LINKS }, (_, n) => toRow(n))
    await server().app.db.write(async (connection) => {
      for (let from = 0; from < rows.length; from += AT_ONCE) {
        await connection
          .insertInto('links')
          .values(rows.slice(from, from + AT_ONCE))
          .execute()
      }
    })
    const own = rows.filter((row) => row.workspace_id === workspace.id)
    const read = async (query: string) => {
      const { json } = await workspace.api(`/links?limit=100&${query}`)
      return { total: json.total, slugs: json.data.map(({ slug }: { slug: string }) => slug) }
    }
    const expected = (passing: typeof rows, by: (row: (typeof rows)[number]) => number) => ({
      total: passing.length,
      slugs: passing
        .toSorted((a, b) => by(b) - by(a) || b.created_at - a.created_at)
        .slice(0, 100)
        .map(({ slug }) => slug),
    })
    const open = own.filter(({ archived }) => archived === 0)
    const needles = open.filter(({ search_text }) => search_text === 'needle')
    expect(await read('')).toEqual(expected(open, (row) => row.created_at))
    expect(await read('archived=all&sort=clicks')).toEqual(expected(own, (row) => row.clicks))
    const archived = own.filter((row) => row.archived === 1)
    expect(await read('archived=true')).toEqual(expected(archived, (row) => row.created_at))
    expect(await read('sort=lastClickedAt')).toEqual(expected(open, (row) => row.last_clicked_at ?? 0))
    expect(await read('search=needle')).toEqual(expected(needles, (row) => row.created_at))
    expect(await read('search=needle&sort=clicks')).toEqual(expected(needles, (row) => row.clicks))
  })
})

onSqlite('a step of a list', (server) => {
  test.each([
    [{ tagId: [1, 2] }, ['(workspace_id=? AND id>? AND id<?)', '(link_id=? AND tag_id=?)']],
    [{ tagId: [1], search: 'hay' }, ['(workspace_id=? AND id>? AND id<?)', '(link_id=? AND tag_id=?)']],
    [{ archived: 'true' as const }, ['(workspace_id=? AND id>? AND id<?)']],
    [{ domain: 'go.example' }, ['(workspace_id=? AND id>? AND id<?)']],
  ])('reads its own links and their tags alone: %j', async (filters, ranges) => {
    const { db } = server().app
    const site = { domain: 'local.example', names: new Set<string>() } as never
    const filtered = filterLinks({ db, site }, { workspaceId: 1 }, filters)
    const query = selectRange(filtered, { from: 1, to: 500 }).select('id').compile()
    const { rows } = await db.read.executeQuery<{ detail: string }>({
      ...query,
      sql: `explain query plan ${query.sql}`,
    })
    expect(rows.filter(({ detail }) => detail.startsWith('SCAN'))).toEqual([])
    expect(rows.map(({ detail }) => /\(.*\)/.exec(detail)?.[0])).toEqual(ranges)
  })
})
