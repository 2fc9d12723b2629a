import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { HttpCall } from '../../../../tests/support/server/http-call.ts'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../../tests/support/world.ts'
import { pruneIdempotencyKeys } from './idempotency.ts'

const DAY = 24 * 60 * 60 * 1000
let now = Date.parse('2026-05-01T12:00:00Z')

const LINK = { destinationUrl: 'https://example.com/once' }
const post = ({ api }: TestWorkspace, key: string, body: unknown = LINK, path = '/links') =>
  api(path, { method: 'POST', body, headers: { 'Idempotency-Key': key } })
const linksOf = async ({ api }: TestWorkspace): Promise<number> => (await api('/links')).json.total
const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed')

onBothEngines.quick(
  'Idempotency-Key',
  (server) => {
    test('a repeated request gets the first answer and does nothing again', async () => {
      const workspace = await server().createWorkspace()
      const first = await post(workspace, 'order-1')
      const second = await post(workspace, 'order-1')
      expect([first.status, replayed(first)]).toEqual([201, null])
      expect([second.status, replayed(second), second.text]).toEqual([201, 'true', first.text])
      expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))
      expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
      expect(second.headers.get('x-ratelimit-remaining')).toBe('298')
      expect(await linksOf(workspace)).toBe(1)
    })

    test('replays the first answer after the link has changed or was deleted', async () => {
      const workspace = await server().createWorkspace()
      const first = await post(workspace, 'k')
      await workspace.delete(`/links/${first.json.data.id}`)
      expect((await post(workspace, 'k')).text).toBe(first.text)
      expect(await linksOf(workspace)).toBe(0)
    })

    test('refuses the same key with another body or path, and creates nothing', async () => {
      const workspace = await server().createWorkspace()
      await post(workspace, 'k')
      for (const other of [
        await post(workspace, 'k', { destinationUrl: 'https://example.com/other' }),
        await post(workspace, 'k', { name: 'a tag' }, '/tags'),
        await post(workspace, 'k', [LINK], '/links/bulk'),
      ]) {
        expect(other.status).toBe(422)
        expect(other.json).toEqual({
          error: 'Idempotency-Key: was used before with another request',
          errors: { 'Idempotency-Key': 'was used before with another request' },
        })
        expect(replayed(other)).toBeNull()
      }
      expect(await linksOf(workspace)).toBe(1)
      expect((await workspace.api('/tags')).json.total).toBe(0)
    })

    test('creates one link for thirty parallel requests', async () => {
      const workspace = await server().createWorkspace()
      const answers = await Promise.all(Array.from({ length: 30 }, () => post(workspace, 'twins')))
      expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(201))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1)
      expect(await linksOf(workspace)).toBe(1)
    })

    test('runs one of several parallel requests with different bodies, and refuses the others', async () => {
      const workspace = await server().createWorkspace()
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          post(workspace, 'rivals', { destinationUrl: `https://a.example/${i}` }),
        ),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(11).fill(422)])
      expect(await linksOf(workspace)).toBe(1)
    })

    test('keeps keys of workspaces apart', async () => {
      const [one, other] = [await server().createWorkspace(), await server().createWorkspace()]
      const first = await post(one, 'same')
      const second = await post(other, 'same')
      expect([second.status, replayed(second)]).toEqual([201, null])
      expect(second.json.data.id).not.toBe(first.json.data.id)
    })

    test('keeps an answer for 24 hours, then frees the key', async () => {
      const workspace = await server().createWorkspace()
      const first = await post(workspace, 'k')
      now += DAY
      expect((await post(workspace, 'k')).text).toBe(first.text)
      now += 1
      const later = await post(workspace, 'k')
      expect([later.status, replayed(later)]).toEqual([201, null])
      expect(later.json.data.id).not.toBe(first.json.data.id)
      // The 24 hours start again, also for another body.
      expect((await post(workspace, 'k')).text).toBe(later.text)
      now += DAY + 1
      expect((await post(workspace, 'k', { ...LINK, title: 'new' })).status).toBe(201)
    })

    test('prunes old keys only', async () => {
      const workspace = await server().createWorkspace()
      await post(workspace, 'old')
      now += DAY - 1_000
      await post(workspace, 'young')
      now += 2_000
      await pruneIdempotencyKeys(server().app.db, now)
      expect(await keptKeys(server(), workspace)).toEqual(['young'])
    })

    test('replays a refusal too, whatever has changed since', async () => {
      const workspace = await server().createWorkspace()
      const taken = await workspace.createLink({ slug: `taken-${workspace.id}` })
      const conflict = await post(workspace, 'c', { ...LINK, slug: taken.slug })
      const invalid = await post(workspace, 'i', { ...LINK, clickLimit: 0 })
      expect([conflict.status, invalid.status]).toEqual([409, 422])
      await workspace.delete(`/links/${taken.id}`)
      await workspace.delete('/links/trash')
      for (const [key, body, first] of [
        ['c', { ...LINK, slug: taken.slug }, conflict],
        ['i', { ...LINK, clickLimit: 0 }, invalid],
      ] as const) {
        const again = await post(workspace, key, body)
        expect([again.status, again.text, replayed(again)]).toEqual([first.status, first.text, 'true'])
      }
      expect(await linksOf(workspace)).toBe(0)
    })

    test('does not keep an answer to a request that could not be parsed', async () => {
      const workspace = await server().createWorkspace()
      expect((await post(workspace, 'k', '{')).status).toBe(400)
      expect((await post(workspace, 'k', '[]')).status).toBe(400)
      expect((await post(workspace, 'k', LINK, '/nothing')).status).toBe(404)
      expect(await keptKeys(server(), workspace)).toEqual([])
      expect((await post(workspace, 'k')).status).toBe(201)
    })

    test('does not keep an answer of 500 or above, so that a retry with the key works', async () => {
      const workspace = await server().createWorkspace()
      await withBroken(server(), 'insert', 'links', async () => {
        const { status, text } = await post(workspace, 'k')
        expect([status, text]).toEqual([500, '{"error":"Internal server error"}'])
        expect(await keptKeys(server(), workspace)).toEqual([])
      })
      const again = await post(workspace, 'k')
      expect([again.status, replayed(again)]).toEqual([201, null])
      expect(await linksOf(workspace)).toBe(1)
    })

    test('stores the link and its answer together or not at all', async () => {
      const workspace = await server().createWorkspace()
      const slug = `together-${workspace.id}`
      await withBroken(server(), 'update', 'idempotency_keys', async () => {
        const { status, text } = await post(workspace, 'k', { ...LINK, slug })
        expect([status, text]).toEqual([500, '{"error":"Internal server error"}'])
      })
      expect(await linksOf(workspace)).toBe(0)
      expect(await keptKeys(server(), workspace)).toEqual([])
      expect((await server().click(slug)).status).toBe(404)
      expect((await post(workspace, 'k', { ...LINK, slug })).status).toBe(201)
      expect((await server().click(slug)).status).toBe(302)
    })

    describe('a key is 1 to 255 visible ASCII characters', () => {
      test.each([
        ['one', 'a', 201],
        ['every kind', '!~azAZ09-_:/', 201],
        ['255', 'k'.repeat(255), 201],
        ['256', 'k'.repeat(256), 422],
        ['empty', '', 422],
        ['a space inside', 'a b', 422],
        ['beyond ASCII', 'schlüssel', 422],
      ])('%s', async (_, key, expected) => {
        const workspace = await server().createWorkspace()
        const { status, json } = await post(workspace, key)
        expect(status).toBe(expected)
        if (expected === 422) {
          expect(json.errors).toEqual({ 'Idempotency-Key': 'must be 1 to 255 visible ASCII characters' })
        }
        expect(await linksOf(workspace)).toBe(expected === 201 ? 1 : 0)
      })
    })

    test('ignores the header on other methods than POST', async () => {
      const workspace = await server().createWorkspace()
      const { id } = await workspace.createLink()
      const twice = async (path: string, call: HttpCall) => {
        const send = () => workspace.api(path, { ...call, headers: { 'Idempotency-Key': 'k' } })
        const first = await send()
        now += 1
        return [first, await send()]
      }
      const [before, after] = await twice('/links', {})
      expect([before?.status, after?.status, replayed(after as never)]).toEqual([200, 200, null])
      for (const title of ['a', 'b']) {
        const [, second] = await twice(`/links/${id}`, { method: 'PATCH', body: { title } })
        expect(second?.json.data.title).toBe(title)
      }
      const [gone, missing] = await twice(`/links/${id}`, { method: 'DELETE' })
      expect([gone?.status, missing?.status]).toEqual([200, 404])
      expect(await keptKeys(server(), workspace)).toEqual([])
    })

    test('runs a bulk create once', async () => {
      const workspace = await server().createWorkspace()
      const first = await post(workspace, 'bulk', [LINK, LINK, LINK], '/links/bulk')
      const again = await post(workspace, 'bulk', [LINK, LINK, LINK], '/links/bulk')
      expect([first.status, again.text, replayed(again)]).toEqual([201, first.text, 'true'])
      expect(await linksOf(workspace)).toBe(3)
    })
  },
  { now: () => now },
)

async function keptKeys({ app }: TestServer, { id }: TestWorkspace): Promise<string[]> {
  const rows = await app.db.read
    .selectFrom('idempotency_keys')
    .select('key')
    .where('workspace_id', '=', id)
    .orderBy('key')
    .execute()
  return rows.map(({ key }) => key)
}

/** Makes the database refuse one kind of statement on a table while `during` runs. */
async function withBroken(
  { app, engine }: TestServer,
  what: string,
  table: string,
  during: () => Promise<void>,
) {
  const [make, drop] =
    engine === 'sqlite'
      ? [
          [`create trigger broken before ${what} on ${table} begin select raise(abort, 'broken'); end`],
          ['drop trigger broken'],
        ]
      : [
          [
            `create function broken() returns trigger language plpgsql as $$ begin raise 'broken'; end $$`,
            `create trigger broken before ${what} on ${table} for each row execute function broken()`,
          ],
          [`drop trigger broken on ${table}`, 'drop function broken()'],
        ]
  const run = (statements: string[]) =>
    app.db.write(async (connection) => {
      for (const statement of statements) await sql.raw(statement).execute(connection)
    })
  await run(make)
  try {
    await during()
  } finally {
    await run(drop)
  }
}
