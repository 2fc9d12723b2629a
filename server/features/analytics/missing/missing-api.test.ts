import { beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import {
  addVerifiedDomain,
  changeDomain,
  putLinkOnDomain,
} from '../../../../tests/support/server/verified-domain.ts'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../../tests/support/world.ts'
import { deleteWorkspace } from '../../accounts/workspaces/delete-workspace.ts'
import { pruneMisses } from '../../hits/misses/prune-misses.ts'

setDefaultTimeout(60_000)

const HOUR = 60 * 60 * 1000
const PERSON = { human: true, address: '198.51.100.1', userAgent: 'Mozilla/5.0' }

/** Asks a domain for a slug, as the redirects do. */
function miss({ app, now }: TestServer, slugKey: string, fields: object = {}) {
  app.misses.count({ ...PERSON, at: now(), domain: '', workspaceId: 0, slugKey, ...fields })
}

async function listMissing(server: TestServer, workspace: TestWorkspace, query = '') {
  await server.app.misses.flush()
  const { status, json } = await workspace.api(`/analytics/missing${query}`)
  expect(status).toBe(200)
  return json
}

async function removeAll({ app }: TestServer) {
  await app.misses.flush()
  await app.db.write(async (connection) => {
    await connection.deleteFrom('misses').execute()
    await connection.deleteFrom('domains').execute()
    await connection.deleteFrom('workspaces').execute()
  })
  await app.domains.reload()
}

onBothEngines('unknown slugs that people asked for', (server) => {
  let workspace: TestWorkspace
  beforeEach(async () => {
    await removeAll(server())
    workspace = await server().createWorkspace()
  })
  const list = (query?: string) => listMissing(server(), workspace, query)
  const slugs = async (query?: string) =>
    (await list(query)).data.map(({ domain, slug }: { domain: string; slug: string }) => `${domain}/${slug}`)
  const domain = () => server().app.site.domain

  test('are listed with the closest link, most asked for first', async () => {
    const { id } = await workspace.createLink({ slug: 'Summer-Sale' })
    await server().click('sumer-sale')
    await server().click('SUMER-sale')
    await server().click('nothing-alike')
    await server().click('nothing-alike', { 'User-Agent': 'curl/8.0' })
    await server().click('a%20b')
    const row = { domain: domain(), linkId: null, lastAt: expect.any(String), visitors: 1 }
    expect(await list()).toEqual({
      data: [
        { ...row, slug: 'sumer-sale', hits: 2, closest: 'Summer-Sale', closestLinkId: id },
        { ...row, slug: 'nothing-alike', hits: 1, closest: null, closestLinkId: null },
      ],
      otherHits: 1,
    })
    expect(await slugs('?limit=1')).toEqual([`${domain()}/sumer-sale`])
  })

  test('name the link that has the slug by now', async () => {
    await workspace.createLink({ slug: 'spring' })
    miss(server(), 'sprin')
    const { id } = await workspace.createLink({ slug: 'Sprin' })
    expect((await list()).data).toMatchObject([{ slug: 'sprin', linkId: id, closest: null }])
  })

  test('suggest no link that does not answer', async () => {
    await workspace.createLink({ slug: 'autumn', archived: true })
    const { id } = await workspace.createLink({ slug: 'autums' })
    await workspace.delete(`/links/${id}`)
    miss(server(), 'autumm')
    expect((await list()).data).toMatchObject([{ slug: 'autumm', closest: null, linkId: null }])
  })

  test('are of the hours that the range touches', async () => {
    const at = server().now() - 50 * HOUR
    await server().update('workspaces', { id: workspace.id }, { created_at: at - HOUR })
    miss(server(), 'old', { at })
    miss(server(), 'new')
    expect(await slugs('?interval=24h')).toEqual([`${domain()}/new`])
    expect(await slugs('?interval=7d')).toEqual([`${domain()}/new`, `${domain()}/old`])
    const range = `start=${new Date(at - 1000).toISOString()}&end=${new Date(at + 1).toISOString()}`
    expect(await slugs(`?${range}`)).toEqual([`${domain()}/old`])
    expect((await workspace.api('/analytics/missing?interval=2w')).status).toBe(422)
    expect((await workspace.api('/analytics/missing?slug=x')).status).toBe(422)
  })

  test('on the default domain are shown to the first workspace only, and nothing from before it', async () => {
    miss(server(), 'before', { at: server().now() - 2 * HOUR })
    miss(server(), 'shared')
    expect(await slugs('?interval=all')).toEqual([`${domain()}/shared`])
    const later = await server().createWorkspace()
    expect(await slugs('?interval=all')).toEqual([`${domain()}/shared`])
    expect((await listMissing(server(), later)).data).toEqual([])
  })

  test('on an own domain are for its workspace only, and never those of a former holder', async () => {
    const other = await server().createWorkspace()
    const theirs = await addVerifiedDomain(server(), other.id, 'go.example')
    miss(server(), 'secret', { domain: 'go.example', workspaceId: other.id })
    miss(server(), 'both', { domain: 'go.example', workspaceId: other.id })
    expect(await slugs()).toEqual([])
    expect((await listMissing(server(), other)).data).toHaveLength(2)
    await changeDomain(server(), theirs, { verified_at: null })
    expect((await listMissing(server(), other)).data).toEqual([])
    await addVerifiedDomain(server(), workspace.id, 'go.example')
    expect((await list()).data).toEqual([])
    // In the same hour, and some of it in the same flush.
    miss(server(), 'secret', { domain: 'go.example', workspaceId: other.id })
    miss(server(), 'secret', { domain: 'go.example', workspaceId: workspace.id })
    miss(server(), 'both', { domain: 'go.example', workspaceId: workspace.id })
    expect((await list()).data).toMatchObject([
      { slug: 'both', hits: 1 },
      { slug: 'secret', hits: 1 },
    ])
  })

  test('are erased when a workspace leaves a domain, with their slugs', async () => {
    const other = await server().createWorkspace()
    await addVerifiedDomain(server(), other.id, 'left.example')
    await addVerifiedDomain(server(), workspace.id, 'kept.example')
    for (const at of [server().now() - 5 * HOUR, server().now()]) {
      miss(server(), 'a', { at, domain: 'left.example', workspaceId: other.id })
      miss(server(), 'b', { at, domain: 'kept.example', workspaceId: other.id })
    }
    miss(server(), 'c', { domain: 'kept.example', workspaceId: workspace.id })
    miss(server(), 'd')
    await server().app.misses.flush()
    const { db } = server().app
    await deleteWorkspace({ db, now: server().now }, other.id)
    await pruneMisses({ db, now: server().now(), since: 0 })
    const rows = await db.read.selectFrom('misses').select('slug').orderBy('slug').execute()
    expect(rows.map(({ slug }) => slug)).toEqual(['c', 'd'])
  })

  test('are filtered by domain', async () => {
    await addVerifiedDomain(server(), workspace.id, 'go.example')
    miss(server(), 'here')
    miss(server(), 'there', { domain: 'go.example', workspaceId: workspace.id })
    expect(await slugs('?domain=GO.example')).toEqual(['go.example/there'])
    expect(await slugs('?domain=-go.example')).toEqual([`${domain()}/here`])
    expect(await slugs(`?domain=${domain()},go.example`)).toHaveLength(2)
    expect(await slugs('?domain=foreign.example')).toEqual([])
  })

  test('find links on the domain that was asked, and of the workspace that has it', async () => {
    const other = await server().createWorkspace()
    await putLinkOnDomain(server(), other, 'go.example', { slug: 'spring-fair' })
    await workspace.createLink({ slug: 'spring-fail' })
    const id = await putLinkOnDomain(server(), workspace, 'go.example', { slug: 'spring-fairs' })
    await addVerifiedDomain(server(), workspace.id, 'go.example')
    miss(server(), 'spring-fai', { domain: 'go.example', workspaceId: workspace.id })
    expect((await list()).data).toMatchObject([{ closest: 'spring-fairs', closestLinkId: id }])
  })

  test('keep their case on a case-sensitive domain', async () => {
    await addVerifiedDomain(server(), workspace.id, 'go.example', { case_sensitive: 1 })
    await putLinkOnDomain(server(), workspace, 'go.example', { slug: 'menu' })
    miss(server(), 'MENU', { domain: 'go.example', workspaceId: workspace.id })
    expect((await list()).data).toMatchObject([{ slug: 'MENU', closest: 'menu' }])
  })
})
