// Exports of links through the API: the content of the file, and an import that takes it back unchanged.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { uploadImport, waitForImport } from '../../../tests/support/imports/import-client.ts'
import { until } from '../../../tests/support/until.ts'
import { onBothEngines, onSqlite, type TestWorkspace } from '../../../tests/support/world.ts'

setDefaultTimeout(120_000)

const LINKS = [
  { slug: 'plain', title: '=SUM(1,2)', comments: "'=2\n-3\r\n+4", tagNames: ['a, b', 'back\\slash', 'c'] },
  {
    slug: 'targets',
    geoTargeting: { DE: 'https://example.com/de' },
    deviceTargeting: { ios: 'https://example.com/ios' },
  },
  {
    slug: '-minus',
    startsAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2030-01-01T00:00:00.000Z',
    expiredUrl: 'https://example.com/x',
  },
  {
    slug: 'limits',
    clickLimit: 10,
    leadLimit: 3,
    trackConversions: true,
    forwardQuery: true,
    redirectStatus: 307,
  },
  {
    slug: 'card',
    previewTitle: '@card',
    previewDescription: '"quoted", and more',
    previewImage: 'https://example.com/i.png',
  },
  { slug: 'guide/Ümlaut/🚀', externalId: 'crm-7', archived: true },
]

const create = async (ws: TestWorkspace) => {
  for (const link of LINKS) await ws.createLink({ ...link, slug: `${link.slug}-${ws.id}` })
}

const list = async (ws: TestWorkspace) => {
  const { json } = await ws.api('/links?archived=all&sort=slug&limit=100')
  // biome-ignore lint/suspicious/noExplicitAny: links as the API answers them
  return json.data.map(({ id, updatedAt, tags, ...link }: any) => ({
    ...link,
    tags: tags.map(({ name }: { name: string }) => name),
  }))
}

onBothEngines('exporting links', (server) => {
  for (const format of ['csv', 'ndjson'])
    test(`as ${format}: an import takes the file back unchanged`, async () => {
      const ws = await server().createWorkspace()
      await create(ws)
      const before = await list(ws)
      const { status, text, headers } = await ws.api(`/links/export?format=${format}`)
      expect(status).toBe(200)
      expect(headers.get('content-disposition')).toMatch(
        new RegExp(`^attachment; filename=links-${ws.id}-.*\\.${format}$`),
      )
      for (const link of before) await deleteLink(ws, link.slug)
      expect(await list(ws)).toEqual([])
      const sent = await uploadImport(server(), ws, [
        ['source', 'towpath'],
        ['file', new Blob([text])],
      ])
      const done = await waitForImport(ws, sent.json.data.id)
      expect(done).toMatchObject({ status: 'done', created: LINKS.length, failed: 0, errors: [] })
      expect(await list(ws)).toEqual(before)
    })

  test('takes the filters of the list, and leaves nothing but the trash out', async () => {
    const ws = await server().createWorkspace()
    await create(ws)
    await deleteLink(ws, `plain-${ws.id}`)
    const ask = async (query: string) => {
      const { text } = await ws.api(`/links/export?format=ndjson&${query}`)
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).slug.replace(`-${ws.id}`, ''))
    }
    expect(await ask('')).toEqual(LINKS.slice(1).map(({ slug }) => slug))
    expect(await ask('archived=false&search=card')).toEqual(['card'])
    expect(await ask('archived=true')).toEqual(['guide/Ümlaut/🚀'])
    expect(await ask('externalId=crm-7')).toEqual(['guide/Ümlaut/🚀'])
    expect((await ws.api('/links/export?limit=5')).status).toBe(422)
  })
})

const deleteLink = async (ws: TestWorkspace, slug: string) => {
  const { json } = await ws.api(`/links?archived=all&search=${encodeURIComponent(slug)}`)
  const link = json.data.find((each: { slug: string }) => each.slug === slug)
  await ws.delete(`/links/${link.id}?permanent=true`)
}

onSqlite('exporting a workspace', (server) => {
  test('is for owners, and for keys with full access', async () => {
    const ws = await server().createWorkspace()
    const body = { name: 'narrow', scopes: ['links:read', 'links:write'] }
    const { read } = server().app.db
    await server().update('api_keys', { workspace_id: ws.id }, { scopes: body.scopes.join() })
    const { status, json } = await ws.api('/export')
    expect([status, json.error]).toEqual([403, expect.stringContaining('lacks the scopes')])
    expect((await ws.api('/links/export')).status).toBe(200)
    const events = await read
      .selectFrom('audit_events')
      .select('action')
      .where('workspace_id', '=', ws.id)
      .execute()
    expect(events.map(({ action }) => action)).toContain('link.exported')
  })

  test('gives its place back when the receiver goes', async () => {
    const ws = await server().createWorkspace()
    await create(ws)
    for (let round = 0; round < 3; round++) {
      const controller = new AbortController()
      const response = await fetch(`${server().origin}/v1/export`, {
        headers: { Authorization: `Bearer ${ws.key}` },
        signal: controller.signal,
      })
      await response.body?.getReader().read()
      controller.abort()
    }
    const whole = await until('a place for an export', async () => {
      const response = await fetch(`${server().origin}/v1/export`, {
        headers: { Authorization: `Bearer ${ws.key}` },
      })
      return response.status === 200 ? await response.arrayBuffer() : undefined
    })
    expect(Buffer.from(whole).readUInt32BE()).toBe(0x504b0304)
    const events = await server().rows('audit_events', { workspace_id: ws.id, action: 'workspace.exported' })
    expect(events.length).toBeGreaterThan(0)
  })
})
