import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migratedDatabase } from '../../../tests/support/migrated-database.ts'
import { type DatabaseHandle, openDatabase } from '../../storage/database/open-database.ts'
import { createWorkspace } from '../accounts/workspaces/create-workspace.ts'
import { createLinkCache } from './cache.ts'
import { createLink } from './create.ts'
import { DEFAULT_DOMAIN } from './names/domain-directory.ts'
import { preloadLinks } from './preload-links.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'towpath-preload-'))
const site = {
  origin: 'https://go.example',
  domain: 'go.example',
  names: new Set<string>(),
  ownHosts: [],
  isShortHost: () => false,
  isOwnHost: () => true,
  schemes: [],
  reserved: new Set<string>(),
  reservedOnDomains: new Set<string>(),
  isBlocked: () => false,
}
let db: DatabaseHandle
const domains = {
  get: (name: string) =>
    name === ''
      ? DEFAULT_DOMAIN
      : name === 'own.example'
        ? { ...DEFAULT_DOMAIN, name, workspaceId: holder }
        : undefined,
}
let holder = 0
const ids = new Map<string, number>()

async function storeLinks(handle: DatabaseHandle, clicks: Record<string, number | null>) {
  const needs = { db: handle, site, now: () => Date.UTC(2026, 4, 1) }
  const { id: workspaceId } = await createWorkspace(needs, { name: 'Test', plan: 'enterprise' })
  const actor = { kind: 'operator', workspaceId, plan: 'enterprise', keyId: null } as const
  for (const [slug, last_clicked_at] of Object.entries(clicks)) {
    const { id } = await createLink(needs, actor, { slug, destinationUrl: 'https://example.com/' })
    ids.set(slug, id)
    await handle.write((connection) =>
      connection.updateTable('links').set({ last_clicked_at }).where('id', '=', id).execute(),
    )
  }
}

beforeAll(async () => {
  db = await openDatabase({ dataDir, databaseUrl: (await migratedDatabase()).url })
  await storeLinks(db, { Oldest: 1, newest: 9, never: null, deleted: 8, middle: 5, suspended: 7 })
  await db.write(async (connection) => {
    const change = (slug: string, columns: object) =>
      connection
        .updateTable('links')
        .set(columns)
        .where('id', '=', ids.get(slug) as number)
        .execute()
    await change('deleted', { deleted_at: 1 })
    await change('suspended', { suspended_at: 1 })
  })
})
afterAll(async () => {
  await db?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

describe('before a node listens', () => {
  test('the links that were clicked last are in its cache', async () => {
    const cache = createLinkCache()
    expect(await preloadLinks({ domains, db, cache, linksMin: 1, linksMax: 3 })).toBe(3)
    const known = [...ids.keys()].filter((slug) => cache.get('', slug.toLowerCase()))
    expect(known.sort()).toEqual(['middle', 'newest', 'suspended'])
    expect(cache.get('', 'suspended')).toMatchObject({ suspended: true, plain: false })
    await preloadLinks({ domains, db, cache, linksMin: 4, linksMax: 10 })
    expect(cache.get('', 'oldest')).toMatchObject({ id: ids.get('Oldest'), slug: 'Oldest', plain: true })
    expect([cache.get('', 'deleted'), cache.get('', 'never')]).toEqual([undefined, undefined])
  })

  test('a link on a domain is kept for the workspace that has the domain now', async () => {
    const change = (slug: string, domain: string) =>
      db.write((connection) =>
        connection
          .updateTable('links')
          .set({ domain })
          .where('id', '=', ids.get(slug) as number)
          .returning('workspace_id')
          .executeTakeFirstOrThrow(),
      )
    const { workspace_id } = await change('newest', 'own.example')
    await change('middle', 'lost.example')
    const preload = async () => {
      const cache = createLinkCache()
      await preloadLinks({ domains, db, cache, linksMin: 1 })
      return [cache.get('own.example', 'newest')?.id, cache.get('lost.example', 'middle')]
    }
    expect(await preload()).toEqual([undefined, undefined])
    holder = workspace_id
    expect(await preload()).toEqual([ids.get('newest'), undefined])
    await change('newest', '')
    await change('middle', '')
  })

  test('few links are left to their clicks', async () => {
    expect(await preloadLinks({ domains, db, cache: createLinkCache(), linksMin: 5 })).toBe(0)
  })

  test('a link that changes meanwhile is not kept', async () => {
    const cache = createLinkCache()
    const changing = { ...cache, version: () => cache.version() }
    changing.version = () => {
      const version = cache.version()
      cache.invalidate('', 'newest')
      return version
    }
    await preloadLinks({ domains, db, cache: changing, linksMin: 1 })
    expect(cache.get('', 'newest')).toBeUndefined()
    expect(cache.get('', 'middle')).toBeDefined()
  })

  test('SQLite is not read, and a database that fails does not stop the start', async () => {
    const sqlite = await openDatabase({ dataDir })
    await storeLinks(sqlite, { a: 1 })
    expect(await preloadLinks({ domains, db: sqlite, cache: createLinkCache(), linksMin: 1 })).toBe(0)
    await sqlite.close()
    const gone = { ...db, read: undefined as never }
    expect(await preloadLinks({ domains, db: gone, cache: createLinkCache(), linksMin: 1 })).toBe(0)
  })
})
