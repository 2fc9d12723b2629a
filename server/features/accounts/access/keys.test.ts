import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../../../tests/support/until.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'
import { generateApiKey } from './api-key.ts'
import { createKey, listKeys, revokeKey } from './keys.ts'

const START = Date.parse('2026-05-01T12:00:00Z')
let now = START

onBothEngines(
  'API keys',
  (server) => {
    const needs = () => ({ db: server().app.db, now: () => now })
    /** The workspace's first key. */
    const keyRow = (workspace: number) => server().row('api_keys', { workspace_id: workspace, name: 'test' })
    const ask = (headers: Record<string, string>, path = '/v1/links') => server().call(path, { headers })

    test('opens its own workspace', async () => {
      const { key, createLink } = await server().createWorkspace()
      const made = await createLink()
      const { status, json } = await ask({ Authorization: `Bearer ${key}` })
      expect(status).toBe(200)
      expect(json.data.map(({ id }: { id: number }) => id)).toEqual([made.id])
    })

    test.each(['bearer', 'BEARER', 'Bearer'])('accepts the scheme %s', async (scheme) => {
      const { key } = await server().createWorkspace()
      expect((await ask({ Authorization: `${scheme} ${key}` })).status).toBe(200)
      expect((await ask({ Authorization: `${scheme}   ${key} ` })).status).toBe(200)
    })

    test('answers malformed, unknown and revoked keys and other schemes exactly alike', async () => {
      const { id, key } = await server().createWorkspace()
      await revokeKey(needs(), (await keyRow(id)).id)
      const other = await server().createWorkspace()
      const wrong = [
        `Bearer ${key}`,
        `Bearer ${generateApiKey()}`,
        'Bearer tp_short',
        'Bearer',
        'Bearer  ',
        other.key,
        `Basic ${other.key}`,
        `Bearer ${other.key}x`,
        `Bearer ${other.key} ${other.key}`,
        `Bearer ${other.key}, Bearer ${other.key}`,
        `Bearer "${other.key}"`,
      ]
      for (const Authorization of wrong) {
        const { status, text, headers } = await ask({ Authorization })
        expect([Authorization, status, text]).toEqual([Authorization, 401, '{"error":"Invalid API key"}'])
        expect(headers.get('www-authenticate')).toBe('Bearer')
        expect(headers.get('x-ratelimit-limit')).toBeNull()
      }
    })

    test('ignores a key outside the Authorization header', async () => {
      const { key } = await server().createWorkspace()
      const path = `/v1/links?key=${key}&api_key=${key}&access_token=${key}`
      for (const answer of [
        await ask({}, path),
        await ask({ 'X-Api-Key': key }),
        await ask({ Cookie: `key=${key}; Authorization=Bearer ${key}` }),
        await ask({ Authorization: '' }),
      ]) {
        expect(answer.status).toBe(401)
        expect(answer.text).toBe('{"error":"Missing API key"}')
      }
    })

    test('refuses a revoked key on its next request, and accepts the other keys of the workspace', async () => {
      const { id, key, api } = await server().createWorkspace()
      const second = await createKey(needs(), id, 'second')
      for (let round = 0; round < 5; round++) expect((await api('/links')).status).toBe(200)
      await revokeKey(needs(), (await keyRow(id)).id)
      const refused = await api('/links', {
        method: 'POST',
        body: { destinationUrl: 'https://example.com/' },
      })
      expect(refused.status).toBe(401)
      expect((await ask({ Authorization: `Bearer ${second.key}` })).json.total).toBe(0)
      expect((await ask({ Authorization: `Bearer ${key}` })).status).toBe(401)
    })

    test('keeps the time of the first revocation, and reports an unknown key', async () => {
      const { id } = await server().createWorkspace()
      const before = await keyRow(id)
      await revokeKey(needs(), before.id)
      now += 5_000
      await revokeKey(needs(), before.id)
      expect((await keyRow(id)).revoked_at).toBe(now - 5_000)
      await expect(revokeKey(needs(), 999_999)).rejects.toThrow('API key not found')
      await expect(createKey(needs(), 999_999, 'x')).rejects.toThrow('Workspace not found')
      await expect(listKeys(needs(), 999_999)).rejects.toThrow('Workspace not found')
    })

    test('lists keys by name and last four characters, without the keys themselves', async () => {
      const { id, key } = await server().createWorkspace()
      const second = await createKey(needs(), id, 'second')
      await revokeKey(needs(), second.id)
      const full = { scopes: ['*' as const], expiresAt: null }
      expect(await listKeys(needs(), id)).toEqual([
        { id: second.id - 1, name: 'test', lastFour: key.slice(-4), ...full, revoked: false },
        { id: second.id, name: 'second', lastFour: second.key.slice(-4), ...full, revoked: true },
      ])
    })

    test('records the last use at most once a minute', async () => {
      const { id, api } = await server().createWorkspace()
      expect((await keyRow(id)).last_used_at).toBeNull()
      const first = now
      await Promise.all(Array.from({ length: 10 }, () => api('/links')))
      await until('the use is noted', async () => (await keyRow(id)).last_used_at === first)
      now += 60_000
      await api('/links')
      // A later write is behind the write of this request in the queue.
      await server().app.db.write(async () => undefined)
      expect((await keyRow(id)).last_used_at).toBe(first)
      now += 1
      await api('/links')
      await until('the next minute is noted', async () => (await keyRow(id)).last_used_at === now)
    })

    test('records no use for a refused key', async () => {
      const { id, api } = await server().createWorkspace()
      await revokeKey(needs(), (await keyRow(id)).id)
      await api('/links')
      await server().app.db.write(async () => undefined)
      expect((await keyRow(id)).last_used_at).toBeNull()
    })

    test('stores the text of a key nowhere', async () => {
      const { id, key, createLink } = await server().createWorkspace()
      await server().click((await createLink()).slug)
      const row = await keyRow(id)
      expect(row.last_four).toBe(key.slice(-4))
      expect(Object.values(row)).not.toContain(key)
      expect(filesWith(server().dataDir, key)).toEqual([])
    })
  },
  { now: () => now },
)

/** Files of the data directory that contain the text: database, WAL, spool, engine. */
function filesWith(dir: string, text: string): string[] {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  expect(files.length).toBeGreaterThan(2)
  return files
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))
}
