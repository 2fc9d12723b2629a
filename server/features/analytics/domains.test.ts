// Clicks and leads by domain: a link counts for the domain that it is on now, and keeps the name of a domain that is gone.

import { beforeAll, expect, test } from 'bun:test'
import { JSON_TYPE, postToForm } from '../../../tests/support/form-requests.ts'
import {
  addVerifiedDomain,
  callHost,
  putLinkOnDomain,
} from '../../../tests/support/server/verified-domain.ts'
import { onBothEngines, type TestWorkspace } from '../../../tests/support/world.ts'

const BRAND = 'go.brand.example'
const PROMO = 'promo.brand.example'

onBothEngines('analytics by domain', (server) => {
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  let ask: (path: string) => Promise<any>
  let workspaceId: number
  let api: TestWorkspace['api']
  let standard: string
  const ids: Record<string, number> = {}

  beforeAll(async () => {
    const workspace = await server().createWorkspace()
    ;({ id: workspaceId, api } = workspace)
    standard = server().app.site.domain
    ask = async (path) => (await api(`/analytics/${path}`)).json.data
    await addVerifiedDomain(server(), workspace.id, BRAND)
    await addVerifiedDomain(server(), workspace.id, PROMO, { case_sensitive: 1 })
    const { json } = await workspace.post('/forms', { name: 'Contact' })
    const slug = `sale-${server().engine}`
    const fields = { destinationUrl: 'https://shop.example/', trackConversions: true }
    const add = async (name: string, host: string, slug: string, clicks: number) => {
      const onDomain = () => putLinkOnDomain(server(), workspace, host, { slug, ...fields })
      ids[name] = host === standard ? (await workspace.createLink({ slug, ...fields })).id : await onDomain()
      let landing = ''
      for (let click = 0; click < clicks; click++)
        landing = (await callHost(server(), host, `/${slug}`)).headers.get('location') ?? ''
      await postToForm(server(), { key: json.data.formKey }, JSON_TYPE, JSON.stringify({ name }), {
        Referer: landing,
      })
    }
    await add('standard', standard, slug, 1)
    await add('brand', BRAND, slug, 2)
    await add('upper', PROMO, slug.toUpperCase(), 3)
    await add('lower', PROMO, slug, 4)
    // As a case-sensitive domain stores it.
    await server().update(
      'links',
      { workspace_id: workspace.id, id: ids.upper as number },
      { slug_key: slug.toUpperCase() },
    )
    await server().waitUntilShipped()
  })

  const countBy = async (query: string, name: string) =>
    Object.fromEntries(
      (await ask(query)).map((row: Record<string, unknown>) => [row[name], row.clicks ?? row.leads]),
    )

  test('groups by domain', async () => {
    expect(await countBy('clicks?groupBy=domain', 'domain')).toEqual({
      [PROMO]: 7,
      [BRAND]: 2,
      [standard]: 1,
    })
    expect(await countBy('leads?groupBy=domain', 'domain')).toEqual({ [PROMO]: 2, [BRAND]: 1, [standard]: 1 })
    expect(await ask('funnel?groupBy=link')).toMatchObject([
      { link: ids.lower, domain: PROMO, clicks: 4, leads: 1 },
      { link: ids.upper, domain: PROMO, clicks: 3, leads: 1 },
      { link: ids.brand, domain: BRAND, clicks: 2, leads: 1 },
      { link: ids.standard, domain: standard, clicks: 1, leads: 1 },
    ])
  })

  test('filters by domain, in any case and by exclusion, with a slug too', async () => {
    const slug = `sale-${server().engine}`
    const total = async (query: string) => [
      (await ask(`clicks?${query}`)).clicks,
      (await ask(`leads?${query}`)).leads,
    ]
    expect(await total(`domain=${BRAND}`)).toEqual([2, 1])
    expect(await total(`domain=${BRAND.toUpperCase()}`)).toEqual([2, 1])
    expect(await total(`domain=${standard}`)).toEqual([1, 1])
    expect(await total(`domain=${BRAND},${standard}`)).toEqual([3, 2])
    expect(await total(`domain=-${BRAND}`)).toEqual([8, 3])
    expect(await total('domain=go.other.example')).toEqual([0, 0])
    // Without a domain: the link of each domain that has the slug, by the case that each domain asks for.
    expect(await total(`slug=${slug}`)).toEqual([7, 3])
    expect(await total(`slug=${slug.toUpperCase()}`)).toEqual([6, 3])
    expect(await total(`slug=${slug.toUpperCase()}&domain=${PROMO}`)).toEqual([3, 1])
    expect(await total(`slug=${slug}&domain=${PROMO}`)).toEqual([4, 1])
    expect((await ask(`funnel?domain=${BRAND}`)).clicks).toBe(2)
  })

  test('exports the domain of each hit and lead, and only those that are asked for', async () => {
    const lines = async (path: string) => {
      const range = 'start=2020-01-01&format=ndjson'
      const { text } = await api(`/analytics/${path}&${range}`)
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).domain)
    }
    expect(await lines(`clicks/export?domain=${BRAND}`)).toEqual([BRAND, BRAND])
    expect(await lines(`leads/export?domain=${standard}`)).toEqual([standard])
    expect((await lines(`leads/export?domain=-${standard}`)).sort()).toEqual([BRAND, PROMO, PROMO])
  })

  test('takes a link with its clicks to the domain that it is moved to', async () => {
    await update({ domain: PROMO, slug_key: 'moved' }, ids.brand as number)
    expect(await countBy('clicks?groupBy=domain', 'domain')).toEqual({ [PROMO]: 9, [standard]: 1 })
    expect(await countBy('leads?groupBy=domain', 'domain')).toEqual({ [PROMO]: 3, [standard]: 1 })
    await update({ domain: BRAND, slug_key: `sale-${server().engine}` }, ids.brand as number)
  })

  test('keeps the name of a deleted domain for its deleted links', async () => {
    await update({ deleted_at: 1 }, ids.brand as number)
    await server().app.db.write((connection) =>
      connection
        .deleteFrom('domains')
        .where('workspace_id', '=', workspaceId)
        .where('domain', '=', BRAND)
        .execute(),
    )
    await server().app.domains.reload()
    expect(await countBy('clicks?groupBy=domain', 'domain')).toMatchObject({ [BRAND]: 2 })
    expect((await ask(`clicks?domain=${BRAND}`)).clicks).toBe(2)
    const brand = (await ask('clicks?groupBy=link')).find(({ link }: { link: number }) => link === ids.brand)
    expect(brand).toMatchObject({ domain: BRAND, deleted: true, clicks: 2 })
  })

  const update = (fields: { domain?: string; slug_key?: string; deleted_at?: number }, id: number) =>
    server().app.db.write((connection) =>
      connection
        .updateTable('links')
        .set(fields)
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .execute(),
    )
})
