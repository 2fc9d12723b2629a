// Two nodes on one PostgreSQL: a whole server, and beside it the database, caches and feed of another one. The second
// one sees each change of the first.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import pg from 'pg'
import {
  addVerifiedDomain,
  changeDomain,
  putLinkOnDomain,
} from '../../tests/support/server/verified-domain.ts'
import { until } from '../../tests/support/until.ts'
import { startServer, type TestServer, type TestWorkspace } from '../../tests/support/world.ts'
import { changePlan } from '../features/accounts/workspaces/change-plan.ts'
import { deleteWorkspace } from '../features/accounts/workspaces/delete-workspace.ts'
import { restoreWorkspace, suspendWorkspace } from '../features/accounts/workspaces/suspend-workspace.ts'
import { createLinkCache } from '../features/links/cache.ts'
import { creditLeads } from '../features/links/credit-leads.ts'
import {
  createDomainDirectory,
  DEFAULT_DOMAIN,
  type ShortDomain,
} from '../features/links/names/domain-directory.ts'
import { resolveLink } from '../features/links/resolve.ts'
import { restoreLink, suspendLink } from '../features/links/suspend.ts'
import { createWorkspaceLookup } from '../features/tracking/workspace-lookup.ts'
import { createTrafficDirectory } from '../features/visitors/traffic-directory.ts'
import { openDatabase } from '../storage/database/open-database.ts'
import { createFreshness, followChanges } from './follow-changes.ts'

setDefaultTimeout(120_000)

/** The parts of a node that know links and workspaces. */
async function startNode({ dataDir, databaseUrl }: TestServer) {
  const db = await openDatabase({ dataDir, databaseUrl })
  const freshness = createFreshness(db.engine)
  const cache = createLinkCache(freshness)
  const workspaces = createWorkspaceLookup(db, freshness)
  const domains = createDomainDirectory(
    db,
    { isOwnHost: () => false },
    { onNewHolder: cache.invalidateMisses },
  )
  const traffic = createTrafficDirectory({ db, getSalt: () => '', now: server.now })
  const feed = await followChanges({ db, cache, domains, workspaces, traffic, freshness })
  return {
    db,
    cache,
    workspaces,
    domains,
    feed,
    find: async (slug: string) => resolveLink({ db, cache }, DEFAULT_DOMAIN, slug),
  }
}

let server: TestServer
let node: Awaited<ReturnType<typeof startNode>>
beforeAll(async () => {
  server = await startServer('postgres')
  node = await startNode(server)
})
afterAll(async () => {
  await node?.feed.close()
  await node?.db.close()
  await server?.close()
})

/** Brings the link into the cache of the node, once all changes so far have voided what they void. */
async function know(slug: string) {
  await node.feed.poll()
  await node.find(slug)
  expect(node.cache.get('', slug)?.slug).toBe(slug)
}

const operator = () => ({ db: server.app.db, now: server.now, origin: server.origin })

describe('another node sees', () => {
  const patch = (body: object) => (ws: TestWorkspace, id: number) =>
    ws.api(`/links/${id}`, { method: 'PATCH', body })
  const gone = (link: unknown) => link === null

  test.each<
    [
      string,
      (ws: TestWorkspace, id: number) => Promise<unknown>,
      (link: Awaited<ReturnType<typeof node.find>>) => boolean,
    ]
  >([
    [
      'another destination',
      patch({ destinationUrl: 'https://example.org/' }),
      (link) => link?.destinationUrl === 'https://example.org/',
    ],
    ['a new limit of clicks', patch({ clickLimit: 1 }), (link) => link?.clickLimit === 1],
    ['another slug', patch({ slug: 'moved-away' }), gone],
    ['a deletion', (ws, id) => ws.api(`/links/${id}`, { method: 'DELETE' }), gone],
    ['a deletion of several', (ws, id) => ws.api(`/links/bulk?ids=${id}`, { method: 'DELETE' }), gone],
    ['a suspension', (_, id) => suspendLink(operator(), { id }, null), (link) => link?.suspended === true],
    [
      'the suspension of a workspace',
      ({ id }) => suspendWorkspace(operator(), id, null),
      (link) => link?.suspended === true,
    ],
    ['the deletion of a workspace', ({ id }) => deleteWorkspace(operator(), id), gone],
  ])('%s', async (_, change, isChanged) => {
    const ws = await server.createWorkspace()
    const { id, slug } = await ws.createLink()
    await know(slug)
    await change(ws, id)
    await until('the change', async () => isChanged(await node.find(slug)))
  })

  test('a new link, several new ones, and a restored one under slugs that it knew as free', async () => {
    const ws = await server.createWorkspace()
    const slugs = ['one', 'two', 'three'].map((name) => `${name}-${ws.id}`)
    const all = () => Promise.all(slugs.map((slug) => node.find(slug)))
    expect(await all()).toEqual([null, null, null])
    const { id } = await ws.createLink({ slug: slugs[0] })
    const links = slugs.slice(1).map((slug) => ({ slug, destinationUrl: 'https://example.com/' }))
    expect((await ws.api('/links/bulk', { method: 'POST', body: { links } })).status).toBe(201)
    await until('the links', async () => (await all()).every((link) => link !== null))
    await ws.api(`/links/${id}`, { method: 'DELETE' })
    await until('the deletion', async () => (await node.find(slugs[0] as string)) === null)
    await ws.api(`/links/${id}/restore`, { method: 'POST' })
    await until('the return', async () => (await node.find(slugs[0] as string)) !== null)
  })

  test('the last lead of a limit, and a suspension that ends', async () => {
    const ws = await server.createWorkspace()
    const { id, slug } = await ws.createLink({ leadLimit: 2 })
    await know(slug)
    await server.app.db.write((connection, onCommit) =>
      creditLeads(connection, onCommit, { workspaceId: ws.id, linkId: id, leads: 2 }),
    )
    await until('the leads', async () => (await node.find(slug))?.leads === 2)
    await suspendLink(operator(), { id }, null)
    await until('the suspension', async () => (await node.find(slug))?.suspended)
    await restoreLink(operator(), { id })
    await until('its end', async () => !(await node.find(slug))?.suspended)
  })

  test('domains that are verified, change, are lost and go to another workspace', async () => {
    const [first, second] = [await server.createWorkspace(), await server.createWorkspace()]
    const name = `links-${first.id}.example`
    const find = () => node.domains.find(name)
    const id = await addVerifiedDomain(server, first.id, name)
    await until('the domain', () => find()?.workspaceId === first.id)
    await changeDomain(server, id, { root_url: 'https://example.com/' })
    await until('its URL', () => find()?.rootUrl === 'https://example.com/')
    await putLinkOnDomain(server, second, name, { slug: 'kept' })
    const findLink = async () => resolveLink(node, find() as ShortDomain, 'kept')
    // The node knows now that no link of the first workspace has the slug.
    expect(await findLink()).toBeNull()
    await changeDomain(server, id, { verified_at: null })
    await until('the loss', () => find() === undefined)
    await addVerifiedDomain(server, second.id, name)
    await until('the other workspace', () => find()?.workspaceId === second.id)
    expect((await findLink())?.workspaceId).toBe(second.id)
  })

  test('workspaces that come, are suspended, return and go', async () => {
    const { id } = await server.createWorkspace()
    const { public_id } = await node.db.read
      .selectFrom('workspaces')
      .select('public_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const isKnown = async () => (await node.workspaces.find(public_id)) !== null
    expect(await isKnown()).toBe(true)
    await suspendWorkspace(operator(), id, null)
    await until('the suspension', async () => !(await isKnown()))
    await restoreWorkspace(operator(), id)
    await until('its end', isKnown)
    await changePlan(operator(), id, 'free')
    await deleteWorkspace(operator(), id)
    await until('the deletion', async () => !(await isKnown()))
  })
})

test('an edit shows while a transaction holds an earlier number, and the held edit shows once it commits', async () => {
  const ws = await server.createWorkspace()
  const [held, edited] = [await ws.createLink(), await ws.createLink()]
  for (const { slug } of [held, edited]) await know(slug)
  const client = new pg.Client({ connectionString: server.databaseUrl })
  await client.connect()
  await client.query('begin')
  await client.query('update links set archived = 1 where id = $1', [held.id])
  await client.query(`insert into changes (domain, slug_key) values ('', $1)`, [held.slug])
  await ws.api(`/links/${edited.id}`, { method: 'PATCH', body: { archived: true } })
  await until('the edit', async () => (await node.find(edited.slug))?.archived)
  expect((await node.find(held.slug))?.archived).toBe(false)
  await client.query('commit')
  await client.end()
  await until('the held edit', async () => (await node.find(held.slug))?.archived)
})

test('a link that nobody changes is read once, however long it is used', async () => {
  const ws = await server.createWorkspace()
  const { slug } = await ws.createLink()
  await know(slug)
  const known = node.cache.get('', slug)
  const before = node.feed.followedUntil()
  // Longer than the time to live that holds while the feed cannot be read.
  await until('some polls', () => node.feed.followedUntil() - before > 2_500)
  expect(node.cache.get('', slug)).toBe(known as never)
})
