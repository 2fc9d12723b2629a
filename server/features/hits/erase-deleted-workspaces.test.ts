// Deletes a workspace on the command line while a server runs, and checks that the server erases the rest.

import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migratedDatabase } from '../../../tests/support/migrated-database.ts'
import { quick } from '../../../tests/support/suite.ts'
import { until } from '../../../tests/support/until.ts'
import { ENGINES, onBothEngines, type TestServer } from '../../../tests/support/world.ts'
import { openDatabase } from '../../storage/database/open-database.ts'
import type { Tables } from '../../storage/database/tables.ts'
import { createWorkspace } from '../accounts/workspaces/create-workspace.ts'
import { deleteWorkspace } from '../accounts/workspaces/delete-workspace.ts'
import { eraseDeletedWorkspaces, skipPastErasures } from './erase-deleted-workspaces.ts'

const NOW = Date.UTC(2026, 5, 11, 12)
const ROOT = join(import.meta.dir, '../../..')

async function towpath({ dataDir, databaseUrl }: TestServer, ...words: string[]) {
  const child = Bun.spawn([process.execPath, 'server/cli/main.ts', ...words], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}) },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

/** Deletes as the command does: with a database connection of its own beside the server's. */
async function deleteIt({ dataDir, databaseUrl, now }: TestServer, id: number) {
  const db = await openDatabase({ dataDir, databaseUrl })
  try {
    await deleteWorkspace({ db, now }, id)
  } finally {
    await db.close()
  }
}

/** The files of clicks that contain the text. The file of the rows is not among them. */
const holding = ({ dataDir }: TestServer, text: string) =>
  readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('towpath.db'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))

onBothEngines('deleting a workspace', (server) => {
  async function furnished(marker: string) {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({ tagNames: [`${marker} tag`], title: marker })
    for (let i = 0; i < 3; i++) await server().click(`${link.slug}?utm_campaign=${marker}`)
    await server().waitUntilShipped()
    return { ws, link }
  }
  const done = (id: number) =>
    until(
      'the server to be done',
      () =>
        server()
          .app.db.read.selectFrom('erasure_marks')
          .selectAll()
          .where('workspace_id', '=', id)
          .executeTakeFirst(),
      60_000,
    )
  const everything = async (id: number) => {
    const tables: (keyof Tables)[] = ['api_keys', 'links', 'tags', 'link_tags', 'idempotency_keys']
    const counts = tables.map(async (table) => {
      const rows = await server().app.db.read.selectFrom(table).selectAll().execute()
      return rows.filter((row) => 'workspace_id' in row && row.workspace_id === id).length
    })
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  }

  test('without --yes deletes nothing and prints what it would delete', async () => {
    const { ws } = await furnished(`hesitant-${server().engine}`)
    const { code, out, err } = await towpath(server(), 'workspace', 'delete', String(ws.id))
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(`workspace ${ws.id}, "Test"`)
    expect(err).toContain('links: 1, tags: 1, API keys: 1')
    expect(err).toContain('--yes')
    expect((await ws.api('/links')).json.total).toBe(1)
  })

  quick(
    'with --yes ends the workspace’s keys and links, and leaves none of its rows and clicks',
    async () => {
      const marker = `leaving-${server().engine}`
      const { ws, link } = await furnished(marker)
      const other = await furnished(`staying-${server().engine}`)
      await ws.post('/links', { destinationUrl: 'https://example.com/' }, { 'Idempotency-Key': 'once' })
      expect(holding(server(), marker)).not.toEqual([])
      expect(await everything(ws.id)).toBeGreaterThan(4)

      const { code, out, err } = await towpath(server(), 'workspace', 'delete', String(ws.id), '--yes')
      expect([code, err]).toEqual([0, ''])
      expect(JSON.parse(out)).toEqual({
        id: ws.id,
        publicId: expect.any(String),
        name: 'Test',
        links: 2,
        tags: 1,
        keys: 1,
        deleted: true,
      })
      expect((await ws.api('/links')).status).toBe(401)
      expect(await everything(ws.id)).toBe(0)
      await until('its links to be unknown', async () => (await server().click(link.slug)).status === 404)
      await done(ws.id)
      await server().waitUntilShipped()
      expect(holding(server(), marker)).toEqual([])

      expect((await server().click(other.link.slug)).status).toBe(302)
      await server().waitUntilShipped()
      const counted = await other.ws.api('/analytics/clicks')
      expect(counted.json.data.clicks).toBe(4)
      expect((await other.ws.api(`/links/${other.link.id}`)).json.data.clicks).toBe(4)
    },
  )

  test('makes its slugs free for others, and never reuses its id', async () => {
    const { ws, link } = await furnished(`freed-${server().engine}`)
    await deleteIt(server(), ws.id)
    await done(ws.id)
    const next = await server().createWorkspace()
    expect(next.id).toBeGreaterThan(ws.id)
    const again = await next.createLink({ slug: link.slug, destinationUrl: 'https://next.example/' })
    expect((await server().click(link.slug)).headers.get('location')).toBe('https://next.example/')
    await server().waitUntilShipped()
    const { json } = await next.api('/analytics/clicks?groupBy=link')
    expect(json.data).toMatchObject([{ link: again.id, clicks: 1 }])
  })

  test('of an unknown or deleted workspace is an error', async () => {
    const ws = await server().createWorkspace()
    await deleteIt(server(), ws.id)
    const wrong = [[String(ws.id), '--yes']]
    // These checks come before any query, or only read: they do not depend on the database engine.
    if (server().engine === 'sqlite') wrong.push([String(ws.id)], ['x', '--yes'], [])
    const said = await Promise.all(wrong.map((words) => towpath(server(), 'workspace', 'delete', ...words)))
    for (const { code, out, err } of said) {
      expect([code, out]).toEqual([1, ''])
      expect(err).toMatch(/not found|whole number/)
    }
    expect(deleteIt(server(), 999_999)).rejects.toThrow('not found')
  }, 90_000)
})

describe.each(ENGINES)('nodes on one database (%s)', (engine) => {
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  async function openNodes() {
    const dataDir = mkdtempSync(join(tmpdir(), 'towpath-erasures-'))
    ends.push(() => rmSync(dataDir, { recursive: true, force: true }))
    const databaseUrl = engine === 'postgres' ? (await migratedDatabase()).url : undefined
    const db = await openDatabase({ dataDir, databaseUrl })
    ends.push(() => db.close())
    const needs = { db, now: () => NOW }
    const deleteOne = async () => {
      const { id } = await createWorkspace(needs, { name: 'Test', plan: 'pro' })
      await deleteWorkspace(needs, id)
      return id
    }
    const openNode = (node: string) => {
      const done = { erased: [] as number[] }
      return {
        ...needs,
        node,
        done,
        eraseHits: async (ids: number[]) => void done.erased.push(...ids),
      }
    }
    return { deleteOne, openNode }
  }

  test('each erases its own clicks once', async () => {
    const { deleteOne, openNode } = await openNodes()
    const [first, second] = [openNode('first'), openNode('second')]
    const id = await deleteOne()
    for (const node of [first, second, first, second]) await eraseDeletedWorkspaces(node)
    for (const { done } of [first, second]) expect(done).toEqual({ erased: [id] })
  })

  test('a new one erases nothing of workspaces that were deleted before it came', async () => {
    const { deleteOne, openNode } = await openNodes()
    const [old, added] = [openNode('old'), openNode('added')]
    const before = await deleteOne()
    await skipPastErasures(added)
    const after = await deleteOne()
    for (const node of [added, old]) await eraseDeletedWorkspaces(node)
    expect(added.done.erased).toEqual([after])
    expect(old.done.erased).toEqual([before, after])
  })
})
