// Real answers match the OpenAPI document: the tests call every operation, compare each answer with the schema of its
// status, and see every documented status at least once.

import { beforeAll, describe, expect, test } from 'bun:test'
import { appendProofs } from '../../server/features/proofs/proof-chain.ts'
import { waitForImport } from '../support/imports/import-client.ts'
import { addVerifiedDomain, callHost, putLinkOnDomain } from '../support/server/verified-domain.ts'
import { quick } from '../support/suite.ts'
import { fillToLimits } from '../support/users/fill-to-limits.ts'
import {
  addToWorkspace,
  createSignedInUser,
  createTeam,
  type SignedInUser,
  type Team,
} from '../support/users/signed-in-user.ts'
import { DEAD_MAIL_SERVER, onBothEngines, type TestServer, type TestWorkspace } from '../support/world.ts'
import { type ApiRequest, findDifferences } from './find-differences.ts'
import {
  documentedOperations,
  getOperation,
  listParameters,
  listSchemaErrors,
  type Parameter,
  type Schema,
} from './openapi-document.ts'
import {
  createTestResources,
  getSampleRequest,
  type TestResources,
  toAuthHeaders,
  toRequestUrl,
  withUnknownIds,
} from './sample-requests.ts'

/** Server errors, which these tests do not cause. Tests that inject faults check the shape of these answers. */
const NOT_TESTED = ['500', '503']

const JSON_TYPE = { 'Content-Type': 'application/json' }

const compareAnswers = (server: () => TestServer) => {
  const seen = new Map(documentedOperations.map(({ id }) => [id, new Set<string>()]))

  /** @returns the answer, after checking its status and comparing it with the document */
  async function ask(
    workspace: TestWorkspace | undefined,
    id: string,
    status: number,
    what: ApiRequest = {},
  ) {
    const asked = getOperation(id)
    const { body, headers } = what
    const answer = await server().call(toRequestUrl(asked, what), {
      method: asked.method,
      body,
      headers: {
        ...(workspace ? { Authorization: `Bearer ${workspace.key}` } : {}),
        ...headers,
      },
    })
    expect({
      id,
      status: answer.status,
      text: answer.text,
      differences: findDifferences(asked, what, answer),
    }).toEqual({ id, status, text: expect.anything(), differences: [] })
    seen.get(id)?.add(String(status))
    return answer
  }

  quick('a link with all fields: create, read, update, delete', async () => {
    const own = await server().createWorkspace()
    const full = {
      destinationUrl: 'https://example.com/landing?a=1#b',
      slug: `Full-${own.id}`,
      domain: new URL(server().origin).host,
      title: 'Title',
      comments: 'Comments',
      tagNames: ['One', 'Two'],
      externalId: 'external',
      archived: false,
      startsAt: '2026-01-01T00:00:00Z',
      expiresAt: '2100-01-01T00:00:00+02:00',
      expiredUrl: 'https://example.com/over',
      clickLimit: 5,
      leadLimit: 6,
      password: 'secret',
      forwardQuery: true,
      trackConversions: true,
      geoTargeting: { DE: 'https://example.com/de' },
      previewTitle: 'Card',
      previewDescription: 'Description',
      previewImage: 'https://example.com/card.png',
      deviceTargeting: { ios: 'https://example.com/ios', android: null },
      redirectStatus: 307,
      utmSource: 'source',
      utmContent: null,
    }
    const { json } = await ask(own, 'createLink', 201, { body: full })
    const path = { id: json.data.id as number }
    expect((await ask(own, 'getLink', 200, { path })).json.data).toEqual(json.data)
    await ask(own, 'createLink', 409, { body: full })
    await ask(own, 'createLink', 409, { body: { ...full, slug: 'docs', externalId: null } })
    await ask(own, 'createLink', 201, { body: { destinationUrl: full.destinationUrl } })
    await ask(own, 'updateLink', 200, { path, body: {} })
    const clearable = [
      'title',
      'comments',
      'startsAt',
      'expiresAt',
      'expiredUrl',
      'clickLimit',
      'password',
      'tagIds',
    ]
    const cleared = await ask(own, 'updateLink', 200, {
      path,
      body: Object.fromEntries([...clearable, 'geoTargeting', 'deviceTargeting'].map((name) => [name, null])),
    })
    expect(cleared.json.data).toMatchObject({ title: null, startsAt: null, clickLimit: null, tags: [] })
    await ask(own, 'updateLink', 409, { path, body: { slug: 'docs' } })
    const headers = { 'If-Match': `"${json.data.updatedAt}"` }
    await ask(own, 'updateLink', 412, { path, body: { title: 'Late' }, headers })
    await ask(own, 'getLinkQr', 200, { path })
    await ask(own, 'listLinkClicks', 200, { path })
    await ask(own, 'getLinkQr', 200, {
      path,
      query: { format: 'png', size: '128', margin: '0', color: '#123' },
    })
    const visits: ApiRequest['query'][] = [
      {},
      { country: 'DE' },
      { device: 'ios', at: '2099-01-01T00:00:00Z' },
    ]
    for (const query of visits) await ask(own, 'resolveLink', 200, { path, query })
    const split = ['A', 'B'].map((label) => ({ url: `https://example.com/${label}`, weight: 50, label }))
    await ask(own, 'getSplit', 409, { path })
    await ask(own, 'endSplit', 409, { path })
    await ask(own, 'updateLink', 200, { path, body: { split } })
    await ask(own, 'getSplit', 200, { path })
    await ask(own, 'endSplit', 200, { path })
    const [from, to] = ['https://example.com/A', 'https://example.com/C']
    await ask(own, 'listDestinations', 200, { query: { state: 'broken,ok' } })
    await ask(own, 'listDestinations', 422, { query: { state: 'well' } })
    await ask(own, 'drawQr', 200, { body: { slug: 'not-yet', dots: 'dots' } })
    const edit = { ids: [999_999], changes: { archived: true } }
    await ask(own, 'editLinks', 200, { body: edit })
    await ask(own, 'editLinks', 422, { body: { ...edit, changes: { archived: 'yes' } } })
    await ask(own, 'repairDestination', 200, { body: { from, to } })
    await ask(own, 'repairDestination', 404, { body: { from, to, linkIds: [999_999] } })
    await ask(own, 'repairDestination', 422, { body: { from, to: from } })
    await ask(own, 'readDestinationCard', 200, { body: { url: 'http://127.0.0.1/' } })
    await ask(own, 'readCardImage', 200, { body: { url: 'http://127.0.0.1/' } })
    await ask(own, 'deleteLink', 412, { path, headers })
    await ask(own, 'deleteLink', 200, { path })
    await ask(own, 'getLink', 404, { path })
    await ask(own, 'listTrash', 200, {})
    await ask(own, 'restoreLink', 200, { path })
    await ask(own, 'restoreLink', 404, { path })
  })

  test('the trash of links, and whether a slug is free', async () => {
    const own = await server().createWorkspace()
    const links = await Promise.all([1, 2, 3, 4].map(() => own.createLink()))
    const ids = links.map(({ id }) => id as number)
    await ask(own, 'deleteLinks', 200, { query: { ids: ids.join() } })
    const page = await ask(own, 'listTrash', 200, { query: { limit: '2' } })
    await ask(own, 'listTrash', 200, { query: { cursor: page.json.nextCursor } })
    await ask(own, 'restoreLinks', 200, { body: { ids: ids.slice(0, 2) } })
    await ask(own, 'restoreLinks', 404, { body: { ids: ids.slice(1) } })
    const gone = { path: { id: ids[2] as number }, query: { permanent: 'true' } }
    await ask(own, 'deleteLink', 200, gone)
    await ask(own, 'deleteLink', 404, gone)
    await ask(own, 'emptyTrash', 200, {})
    for (const slug of ['free', 'docs', 'not free', links[0].slug, links[3].slug])
      await ask(own, 'getSlugAvailability', 200, { query: { slug } })
  })

  test('lists of links and tags, with pages and filters', async () => {
    const own = await server().createWorkspace()
    for (const title of ['a', 'b', 'c']) await own.createLink({ title, tagNames: [title], externalId: title })
    const first = await ask(own, 'listLinks', 200, { query: { limit: '2', sort: 'slug', order: 'asc' } })
    expect(first.json.total).toBe(3)
    const query = { limit: '2', sort: 'slug', order: 'asc', cursor: first.json.nextCursor as string }
    expect((await ask(own, 'listLinks', 200, { query })).json.nextCursor).toBeNull()
    const tagId = first.json.data[0].tags[0].id
    const filters: ApiRequest['query'][] = [
      { search: 'a' },
      { tagId: `${tagId}` },
      { externalId: 'b' },
      { archived: 'all' },
      { domain: 'x.example' },
    ]
    for (const each of filters) await ask(own, 'listLinks', 200, { query: each })
    const tags = await ask(own, 'listTags', 200, { query: { limit: '2' } })
    await ask(own, 'listTags', 200, { query: { cursor: tags.json.nextCursor } })
    await ask(own, 'listTags', 200, { query: { search: 'a' } })
  })

  test('bulk operations on links', async () => {
    const own = await server().createWorkspace()
    const one = { destinationUrl: 'https://example.com/1', slug: `bulk-${own.id}` }
    const two = { destinationUrl: 'https://example.com/2' }
    const made = await ask(own, 'createLinks', 201, { body: [one, two] })
    await ask(own, 'createLinks', 201, { body: { links: [two] } })
    await ask(own, 'createLinks', 409, { body: [two, one] })
    const ids = made.json.data.map(({ id }: { id: number }) => id) as number[]
    const [id, other] = ids
    await ask(own, 'updateLinks', 200, { body: [{ id, title: 'x' }, { id: other }] })
    await ask(own, 'updateLinks', 200, { body: { links: [{ id, title: null }] } })
    await ask(own, 'updateLinks', 200, { body: { ids, data: { archived: true } } })
    await ask(own, 'updateLinks', 404, { body: [{ id: 999_999_999, title: 'x' }] })
    await ask(own, 'updateLinks', 409, { body: [{ id, slug: 'docs' }] })
    await ask(own, 'deleteLinks', 404, { query: { ids: `${id},999999999` } })
    await ask(own, 'deleteLinks', 200, { query: { ids: ids.join() } })
    const upserted = { destinationUrl: 'https://example.com/3', externalId: 'third', slug: `up-${own.id}` }
    await ask(own, 'upsertLink', 201, { body: upserted })
    await ask(own, 'upsertLink', 200, { body: upserted })
    await ask(own, 'upsertLink', 409, { body: { ...upserted, externalId: 'fourth' } })
  })

  test('tags', async () => {
    const own = await server().createWorkspace()
    const { json } = await ask(own, 'createTag', 201, { body: { name: 'One', color: 'teal' } })
    const path = { id: json.data.id as number }
    const two = await ask(own, 'createTag', 201, { body: { name: 'Two' } })
    await ask(own, 'createTag', 409, { body: { name: 'ONE' } })
    await ask(own, 'updateTag', 200, { path, body: { name: 'Three', color: null } })
    await ask(own, 'updateTag', 200, { path, body: {} })
    await ask(own, 'updateTag', 409, { path: { id: two.json.data.id }, body: { name: 'three' } })
    await ask(own, 'deleteTag', 200, { path })
  })

  test('UTM templates', async () => {
    const own = await server().createWorkspace()
    const body = { name: 'Newsletter', utmSource: 'newsletter' }
    const path = { id: (await ask(own, 'createUtmTemplate', 201, { body })).json.data.id }
    await ask(own, 'createUtmTemplate', 409, { body: { ...body, name: 'NEWSLETTER' } })
    await ask(own, 'createUtmTemplate', 422, { body: { name: 'Empty' } })
    await ask(own, 'listUtmTemplates', 200, { query: { limit: '1' } })
    await ask(own, 'getUtmTemplate', 200, { path })
    await ask(own, 'updateUtmTemplate', 200, { path, body: { utmMedium: 'email' } })
    await ask(own, 'updateUtmTemplate', 200, { path, body: {} })
    await ask(own, 'createUtmTemplate', 201, { body: { ...body, name: 'Other' } })
    await ask(own, 'updateUtmTemplate', 409, { path, body: { name: 'other' } })
    await ask(own, 'updateUtmTemplate', 422, { path, body: { utmSource: null, utmMedium: null } })
    await ask(own, 'deleteUtmTemplate', 200, { path })
  })

  test('views', async () => {
    const own = await server().createWorkspace()
    const fields = { filters: { country: 'US' }, share: { password: 'x' }, embed: ['https://example.com'] }
    const path = {
      id: (await ask(own, 'createView', 201, { body: { name: 'One', ...fields } })).json.data.id,
    }
    await ask(own, 'listViews', 200, { query: { limit: '1' } })
    await ask(own, 'getView', 200, { path })
    await ask(own, 'updateView', 200, { path, body: { start: '2026-03-01T00:00:00.000Z', share: null } })
    await ask(own, 'updateView', 200, { path, body: {} })
    await ask(own, 'updateView', 422, { path, body: { start: '2026-03-01', interval: '7d' } })
    await ask(own, 'deleteView', 200, { path })
  })

  test('allowed senders', async () => {
    const own = await server().createWorkspace()
    const { json } = await ask(own, 'allowSender', 201, { body: { address: '*@Friends.example' } })
    await ask(own, 'allowSender', 201, { body: { address: 'ada@example.com' } })
    await ask(own, 'listAllowedSenders', 200)
    await ask(own, 'listAllowedSenders', 200, { query: { limit: '1' } })
    await ask(own, 'deleteAllowedSender', 200, { path: { id: json.data.id } })
  })

  test('domains', async () => {
    const own = await server().createWorkspace()
    const body = {
      domain: `Go.W${own.id}.example`,
      caseSensitive: true,
      rootUrl: 'https://example.com/',
      notFoundUrl: 'https://example.com/?q={slug}',
      expiredUrl: 'https://example.com/{slug}/over',
      assetLinks: [
        { relation: ['delegate_permission/common.handle_all_urls'], target: { namespace: 'web' } },
      ],
      appleAppSiteAssociation: { applinks: { details: [] } },
    }
    const { json } = await ask(own, 'createDomain', 201, { body })
    expect(json.data).toMatchObject({ ...body, domain: `go.w${own.id}.example` })
    await ask(own, 'createDomain', 409, { body })
    const path = { id: json.data.id as number }
    expect((await ask(own, 'getDomain', 200, { path })).json.data).toEqual(json.data)
    expect((await ask(own, 'updateDomain', 200, { path, body: {} })).json.data).toEqual(json.data)
    const { domain: _, caseSensitive: __, ...settings } = body
    const cleared = Object.fromEntries(Object.keys(settings).map((name) => [name, null]))
    await ask(own, 'updateDomain', 200, { path, body: { ...cleared, primary: false } })
    await ask(own, 'verifyDomain', 200, { path })
    await ask(own, 'listDomains', 200)
    await putLinkOnDomain(server(), own, json.data.domain, { slug: 'kept' })
    await ask(own, 'deleteDomain', 409, { path })
    const other = await server().createWorkspace()
    await addVerifiedDomain(server(), other.id, json.data.domain)
    await ask(own, 'verifyDomain', 409, { path })
    await ask(own, 'deleteDomain', 200, { path, query: { moveTo: 'default' } })
  })

  quick('clicks in every grouping', async () => {
    const own = await server().createWorkspace()
    const link = await own.createLink({ tagNames: ['Tag'] })
    await server().click(`${link.slug}?utm_source=news&qr=1`, { Referer: 'https://search.example/' })
    await server().waitUntilShipped()
    const { schema } = listParameters('query', getOperation('countClicks')).find(
      ({ name }) => name === 'groupBy',
    ) as Parameter
    const SCHEMAS: Record<string, string> = { time: 'ClickBucket', link: 'ClickLink', tag: 'ClickTag' }
    // Or a parameter that the workspace keeps: redirect/traffic.test.ts.
    const [words] = schema.anyOf as [Schema]
    for (const groupBy of words.enum as string[]) {
      const { json } = await ask(own, 'countClicks', 200, { query: { groupBy } })
      // `linkId` is another name of `link`, because the filter has that name.
      const name = groupBy.replace(/Id$/, '')
      const $ref = `#/components/schemas/${SCHEMAS[name] ?? 'ClickGroup'}`
      expect(listSchemaErrors({ type: 'array', items: { $ref } }, json.data)).toEqual([])
      const counted = json.data.filter((row: { clicks: number }) => row.clicks > 0)
      expect(counted).toEqual([expect.objectContaining({ clicks: 1, visitors: 1 })])
      expect(counted[0]).toHaveProperty(name)
    }
    const { json } = await ask(own, 'countClicks', 200, {
      query: { interval: '24h', timezone: 'Asia/Kathmandu' },
    })
    expect(listSchemaErrors({ $ref: '#/components/schemas/ClickTotals' }, json.data)).toEqual([])
    await ask(own, 'countClicks', 200, {
      query: { start: '2026-01-01', end: '2026-02-01T00:00:00Z', class: 'all' },
    })
  })

  test('exports of clicks in every format', async () => {
    const own = await server().createWorkspace()
    const link = await own.createLink()
    await server().click(link.slug)
    await server().waitUntilShipped()
    const { schema } = listParameters('query', getOperation('exportClicks')).find(
      ({ name }) => name === 'format',
    ) as Parameter
    for (const format of schema.enum as string[]) {
      const { text } = await ask(own, 'exportClicks', 200, { query: { format, interval: '24h' } })
      expect(text).toContain(link.slug)
    }
  })

  test('exports of leads in every format', async () => {
    const own = await createTeam(server())
    const { formKey } = await createTestResources(server(), own, `w${own.id}`)
    for (const format of ['csv', 'ndjson']) {
      const { text } = await ask(own, 'exportLeads', 200, { query: { format, interval: '24h' } })
      expect(text).toContain(formKey)
    }
  })

  quick('leads and funnels in every grouping', async () => {
    const own = await createTeam(server())
    const { slug, formKey } = await createTestResources(server(), own, `w${own.id}`)
    await server().click(slug)
    await server().waitUntilShipped()
    const groupings = (id: string) =>
      (listParameters('query', getOperation(id)).find(({ name }) => name === 'groupBy') as Parameter).schema
        .enum as string[]
    const SCHEMAS: Record<string, string> = { time: 'Bucket', link: 'Link', tag: 'Tag', form: 'Form' }
    const listRowErrors = (id: string, shape: string, rows: unknown) =>
      listSchemaErrors(
        {
          type: 'array',
          items: { $ref: `#/components/schemas/${id === 'countLeads' ? 'Lead' : 'Funnel'}${shape}` },
        },
        rows,
      )
    for (const groupBy of groupings('countLeads')) {
      const { json } = await ask(own, 'countLeads', 200, { query: { groupBy } })
      const name = groupBy.replace(/Id$/, '')
      expect(listRowErrors('countLeads', SCHEMAS[name] ?? 'Group', json.data)).toEqual([])
      const counted = json.data.filter((row: { leads: number }) => row.leads > 0)
      // Nobody clicked before the submission, so that the lead has no link and no tag.
      expect(counted).toHaveLength(name === 'tag' ? 0 : 1)
      if (counted[0]) expect(counted[0]).toHaveProperty(name)
    }
    const funnelSchemas: Record<string, string> = {
      link: 'Link',
      tag: 'Tag',
      campaign: 'Campaign',
      source: 'Source',
      channel: 'Channel',
      referrer: 'Referrer',
      country: 'Country',
      variant: 'Variant',
    }
    for (const groupBy of groupings('getFunnel')) {
      const { json } = await ask(own, 'getFunnel', 200, { query: { groupBy, model: 'linear' } })
      const name = groupBy === 'utmCampaign' ? 'campaign' : groupBy.replace(/Id$/, '')
      expect(listRowErrors('getFunnel', funnelSchemas[name] as string, json.data)).toEqual([])
      expect(json.data.some((row: { clicks: number }) => row.clicks === 1)).toBe(true)
    }
    const { json } = await ask(own, 'getFunnel', 200, { query: { interval: '24h' } })
    expect(listSchemaErrors({ $ref: '#/components/schemas/FunnelTotals' }, json.data)).toEqual([])
    await ask(own, 'streamLive', 200, { query: { seconds: '0' } })
    await ask(own, 'countLeads', 200, { query: { form: formKey, page: '-a', model: 'linear' } })
    const questions = ['clicks', 'leads', 'funnel'].map((about) => ({ about, query: { interval: '24h' } }))
    const batch = await ask(own, 'answerQuestions', 200, { body: { questions } })
    expect(batch.json.data).toHaveLength(3)
    expect((await ask(own, 'listFavicons', 200, { query: { hosts: 'example.com' } })).json.data).toEqual([])
    await ask(own, 'listFavicons', 422, { query: { hosts: 'example.com/x' } })
    await ask(own, 'listSparklines', 422, { query: { linkIds: 'x' } })
    const lines = await ask(own, 'listSparklines', 200, { query: { linkIds: '999999' } })
    expect(lines.json.data).toEqual([])
    expect(batch.json.data[2].data).toMatchObject({ clicks: json.data.clicks, leads: json.data.leads })
  })

  test('missing slugs', async () => {
    const own = await createTeam(server())
    const domain = `missing${own.id}.example`
    await addVerifiedDomain(server(), own.id, domain)
    await callHost(server(), domain, '/nothing')
    await server().app.misses.flush()
    const proof = {
      kind: 'expired',
      reason: 'HIT_RETENTION_DAYS=1',
      hits: 0,
      removed: 2,
      digest: 'd',
    } as const
    await appendProofs(server().app.db, own.id, [{ day: '2026-03-29', ...proof }], 1)
    await ask(own, 'listProofs', 200, {})
    await ask(own, 'verifyProof', 200, { path: { day: '2026-03-29' } })
    await ask(own, 'verifyProof', 404, { path: { day: '2026-03-30' } })
    await ask(own, 'verifyProof', 404, { path: { day: '2026-02-30' } })
    await ask(own, 'reconcile', 200, {
      body: { csv: 'date,clicks\n2026-03-29,4\n', theirTimezone: 'Asia/Tokyo' },
    })
    await ask(own, 'reconcile', 422, { body: { csv: 'nothing' } })
    const { json } = await ask(own, 'listMissingSlugs', 200, { query: { domain, interval: '24h' } })
    expect(json.data).toMatchObject([{ slug: 'nothing', domain, hits: 1 }])
  })

  test('a test of a form', async () => {
    const own = await createTeam(server())
    const { formKey } = await createTestResources(server(), own, `w${own.id}`)
    const { json } = await ask(own, 'createFormTest', 200, { path: { formKey } })
    expect(listSchemaErrors({ $ref: '#/components/schemas/FormTest' }, json.data)).toEqual([])
  })

  test('the losses of a form', async () => {
    const own = await createTeam(server())
    const { formKey } = await createTestResources(server(), own, `w${own.id}`)
    const path = { formKey }
    const { json } = await ask(own, 'getFormLosses', 200, { path })
    expect(listSchemaErrors({ $ref: '#/components/schemas/FormLosses' }, json.data)).toEqual([])
    await ask(own, 'getFormLosses', 200, {
      path,
      query: { start: '2026-01-01', end: '2026-02-01T00:00:00Z' },
    })
  })

  test('a form with all fields: create, read, update, delete', async () => {
    const own = await server().createWorkspace()
    const full = {
      name: 'Contact',
      enabled: true,
      requiredFields: ['email', 'message'],
      redirectUrl: 'https://example.com/thanks',
      pageUrl: 'https://example.com/contact',
      afterSubmit: 'hosted',
      onError: 'hosted',
      captcha: false,
      successMessage: 'Thank you!',
      allowedOrigins: ['https://example.com', 'https://*.example.com'],
      perAddress: 600,
      nextHosts: ['example.com', 'example.com:8443'],
      channelIds: [],
    }
    const { json } = await ask(own, 'createForm', 201, { body: full })
    expect(json.data).toMatchObject(full)
    const path = { formKey: json.data.formKey as string }
    expect((await ask(own, 'getForm', 200, { path })).json.data).toEqual(json.data)
    await ask(own, 'updateForm', 200, { path, body: {} })
    const cleared = Object.fromEntries(
      Object.keys(full)
        .slice(1)
        .map((name) => [name, null]),
    )
    const { data } = (await ask(own, 'updateForm', 200, { path, body: cleared })).json
    expect(data).toMatchObject({
      enabled: true,
      requiredFields: [],
      redirectUrl: null,
      pageUrl: null,
      afterSubmit: 'referer',
      onError: 'referer',
      allowedOrigins: [],
      perAddress: 10,
      nextHosts: [],
    })
    await ask(own, 'createForm', 201, { body: { name: 'Second' } })
    const first = await ask(own, 'listForms', 200, { query: { limit: '1' } })
    await ask(own, 'listForms', 200, { query: { cursor: first.json.nextCursor } })
    await ask(own, 'checkForm', 200, {
      path,
      body: { html: '<form></form>', pageUrl: 'https://example.com/contact' },
    })
    await ask(own, 'checkForm', 200, { path, body: { url: 'http://127.0.0.1/' } })
    await ask(own, 'deleteForm', 200, { path })
    await ask(own, 'getForm', 404, { path })
  })

  test('submissions: single, listed and exported', async () => {
    const own = await createTeam(server())
    const { formKey, submissionId, fileId } = await createTestResources(server(), own, 'mark')
    const form = { formKey }
    const queries: ApiRequest['query'][] = [
      { limit: '1' },
      { search: 'MESSAGE', status: 'new', attribution: 'none', email: 'MARK@example.com' },
      { start: '2026-01-01', end: '2100-01-01T00:00:00Z', linkId: '1', country: 'de', utmSource: 'x' },
    ]
    for (const query of queries) {
      await ask(own, 'listSubmissions', 200, { path: form, query })
      await ask(own, 'listAllSubmissions', 200, { query: { ...query, ...form } })
    }
    await ask(own, 'listAllSubmissions', 200, { query: { status: 'new,read' } })
    for (const format of ['csv', 'json', 'ndjson']) {
      const { text } = await ask(own, 'exportSubmissions', 200, { path: form, query: { format } })
      expect(text).toContain('mark message')
    }
    const fields = { message: 'Hello', tags: ['a', 1, true, null] }
    await ask(own, 'createSubmission', 201, {
      path: form,
      body: { fields, address: '203.0.113.7', referrer: '', at: new Date(server().now()).toISOString() },
    })
    await ask(own, 'createSubmission', 200, { path: form, body: { fields: { _gotcha: 'x' } } })
    await ask(own, 'createSubmission', 422, { path: form, body: { fields: { email: 'nobody' } } })
    await ask(own, 'createSubmission', 404, { path: { formKey: 'zzzzzzzzzz' }, body: { fields } })
    const path = { id: submissionId }
    await ask(own, 'getSubmission', 200, { path })
    await ask(own, 'getSubmissionFiles', 200, { path })
    const file = { path: { id: fileId } }
    await ask(own, 'getFile', 200, file)
    await ask(own, 'getFile', 206, { ...file, headers: { Range: 'bytes=0-1' } })
    await ask(own, 'getFile', 416, { ...file, headers: { Range: 'bytes=999-' } })
    await ask(own, 'previewFile', 200, { path: { id: fileId } })
    await ask(own, 'updateSubmission', 200, { path, body: { status: 'archived', notes: 'Called back' } })
    const { data } = (await ask(own, 'updateSubmission', 200, { path, body: { status: null, notes: null } }))
      .json
    expect(data).toMatchObject({ status: 'new', notes: null })
    await ask(own, 'getSubmissionAttribution', 200, { path })
    const reply = { path, body: { subject: 'Re: Contact', text: 'Thanks' } }
    await ask(own, 'sendReply', 201, reply)
    await ask(own, 'listReplies', 200, { path })
    await ask(own, 'updateSubmissions', 200, { body: { ids: [submissionId], status: 'archived' } })
    await ask(own, 'updateSubmissions', 422, { body: { ids: [], status: 'archived' } })
    await ask(own, 'updateSubmissions', 404, { body: { ids: [submissionId, 999_999], status: 'spam' } })
    const won = { submissionId, stage: 'won', value: '5', currency: 'EUR', externalId: 'order' }
    const recorded = await ask(own, 'createOutcomes', 201, { body: won })
    await ask(own, 'createOutcomes', 200, { body: [won] })
    await ask(own, 'createOutcomes', 409, { body: { outcomes: [won, won] } })
    await ask(own, 'createOutcomes', 422, { body: { ...won, value: '-0' } })
    await ask(own, 'listOutcomes', 200, { query: { stage: 'won', currency: 'EUR', ...form } })
    await ask(own, 'exportOutcomes', 200, { query: { stage: 'won', ...form } })
    await ask(own, 'exportOutcomes', 422, { query: { conversionName: 'Won' } })
    await ask(own, 'importOutcomes', 200, { body: { csv: 'email;value\nada@example.com;1,5\n' } })
    await ask(own, 'importOutcomes', 422, { body: { csv: 'name\nAda\n' } })
    await ask(own, 'deleteOutcome', 200, { path: { id: recorded.json.data.id } })
    const nameless = { path: form, body: { fields: { message: 'No address' } } }
    const { json } = await ask(own, 'createSubmission', 201, nameless)
    await ask(own, 'sendReply', 409, { ...reply, path: { id: json.data.id } })
    const other = await createTestResources(server(), own, 'other')
    await ask(own, 'deleteSubmissions', 200, { query: { ids: `${other.submissionId}` } })
    await ask(own, 'deleteSubmissions', 404, { query: { ids: `${other.submissionId}` } })
    await ask(own, 'deleteSubmission', 200, { path })
    await ask(own, 'getSubmission', 404, { path })
    await ask(own, 'eraseSubmissions', 200, { query: { email: 'mark@example.com' } })
    await ask(own, 'eraseSubmissions', 422)
    await ask(own, 'exportPerson', 200, { query: { email: 'mark@example.com' } })
    await ask(own, 'listErasures', 200, { query: { email: 'mark@example.com' } })
  })

  test('channels of every type and their deliveries', async () => {
    const own = await server().createWorkspace()
    const types = [
      { type: 'email', to: ['team@example.com'] },
      { type: 'slack', url: 'https://hooks.slack.com/services/T0/B0/secret' },
      { type: 'discord', url: 'https://discord.com/api/webhooks/1/secret' },
      { type: 'telegram', botToken: `123456:${'a'.repeat(35)}`, chatId: '@leads' },
      { type: 'teams', url: 'https://a.logic.azure.com/workflows/x?sig=secret' },
      { type: 'webhook', url: 'http://127.0.0.1:1/hook', enabled: false },
    ]
    let id = 0
    for (const given of types) {
      const { json } = await ask(own, 'createChannel', 201, { body: { name: 'Leads', ...given } })
      id = json.data.id
      await ask(own, 'getChannel', 200, { path: { id } })
      await ask(own, 'previewChannel', 200, { path: { id }, body: { template: null } })
      const template = { subject: null, text: '{{fields}}' }
      const quietHours = { start: '22:00', end: '07:00', timezone: 'Europe/Berlin' }
      const settings = given.type === 'webhook' ? { digest: null } : { template, digest: 'day', quietHours }
      await ask(own, 'updateChannel', 200, { path: { id }, body: settings })
      await ask(own, 'previewChannel', given.type === 'webhook' ? 422 : 200, {
        path: { id },
        body: { template },
      })
    }
    const first = await ask(own, 'listChannels', 200, { query: { limit: '4' } })
    await ask(own, 'listChannels', 200, { query: { cursor: first.json.nextCursor } })
    const path = { id }
    await ask(own, 'updateChannel', 200, { path, body: { name: 'Other', enabled: null } })
    await ask(own, 'updateChannel', 200, { path, body: {} })
    await ask(own, 'rotateChannelSecret', 200, { path })
    await ask(own, 'askChannelRecipients', 200, { path })
    const tested = await ask(own, 'testChannel', 200, { path })
    const delivery = { path: { id: tested.json.data.id as number } }
    await ask(own, 'getDelivery', 200, delivery)
    await ask(own, 'listDeliveries', 200, {
      query: { status: 'failed', channelId: `${id}`, start: '2026-01-01', end: '2100-01-01T00:00:00Z' },
    })
    const page = await ask(own, 'listDeliveries', 200, { query: { limit: '1' } })
    expect(page.json).toMatchObject({ total: 1, nextCursor: null })
    await ask(own, 'retryDelivery', 200, delivery)
    const since = '2026-01-01T00:00:00Z'
    await ask(own, 'retryFailedDeliveries', 200, { body: { since } })
    await ask(own, 'retryFailedDeliveries', 200, { body: { since, channelId: id } })
    await ask(own, 'deleteChannel', 200, { path })
    await ask(own, 'getChannel', 404, { path })
  })

  test('workspaces with their members, invitations and API keys', async () => {
    const own = await createTeam(server())
    const { owner, member, id } = own
    const asked = (who: SignedInUser, operationId: string, status: number, what: ApiRequest = {}) => {
      const headers = { Cookie: who.cookie, 'X-Workspace': String(id) }
      return ask(undefined, operationId, status, { ...what, headers })
    }
    await ask(own, 'listWorkspaces', 200)
    await ask(own, 'getWorkspace', 200)
    await asked(owner, 'createWorkspace', 201, { body: { name: 'Second' } })
    const first = await asked(owner, 'listWorkspaces', 200, { query: { limit: '1' } })
    await asked(owner, 'listWorkspaces', 200, { query: { cursor: first.json.nextCursor } })
    await asked(owner, 'getWorkspace', 200)
    await asked(owner, 'updateWorkspace', 200, { body: { name: 'Other' } })
    await asked(owner, 'updateWorkspace', 200, { body: {} })

    const key = (await asked(owner, 'createApiKey', 201, { body: { name: 'Build' } })).json.data
    await asked(member, 'createApiKey', 403, { body: { name: 'Build' } })
    await asked(member, 'listApiKeys', 200, { query: { limit: '1' } })
    await asked(owner, 'revokeApiKey', 200, { path: { id: key.id } })

    await asked(owner, 'createInvitation', 409, { body: { email: member.email, role: 'member' } })
    const body = { email: 'guest@people.example', role: 'owner' }
    const made = (await asked(owner, 'createInvitation', 201, { body })).json.data
    await asked(owner, 'createInvitation', 201, { body: { email: 'other@people.example' } })
    const page = await asked(owner, 'listInvitations', 200, { query: { limit: '1' } })
    await asked(owner, 'listInvitations', 200, { query: { cursor: page.json.nextCursor } })
    await asked(owner, 'deleteInvitation', 200, { path: { id: made.id } })
    const ann = await createSignedInUser(server(), 'Ann')
    const { url } = (await asked(owner, 'createInvitation', 201, { body: { email: ann.email } })).json.data
    const token = new URL(url).searchParams.get('token')
    await asked(member, 'acceptInvitation', 403, { body: { token } })
    await asked(ann, 'acceptInvitation', 200, { body: { token } })
    await asked(ann, 'acceptInvitation', 404, { body: { token } })

    await asked(member, 'listMembers', 200)
    const path = { userId: owner.id }
    await asked(owner, 'updateMember', 409, { path, body: { role: 'member' } })
    await asked(owner, 'removeMember', 409, { path })
    await asked(owner, 'updateMember', 200, { path: { userId: member.id }, body: { role: 'owner' } })
    await asked(owner, 'updateMember', 200, { path, body: {} })
    await asked(owner, 'removeMember', 200, { path: { userId: ann.id } })
    const events = await asked(owner, 'listAuditEvents', 200, { query: { limit: '1' } })
    await asked(owner, 'listAuditEvents', 200, { query: { cursor: events.json.nextCursor } })
    const selection = { action: 'member.joined', actor: ann.email, start: '2026-01-01', end: '2100-01-01' }
    expect((await asked(owner, 'listAuditEvents', 200, { query: selection })).json.total).toBe(1)
    await asked(owner, 'exportAuditEvents', 200, { query: { ...selection, format: 'csv' } })
    await asked(owner, 'exportAuditEvents', 200, { query: { format: 'ndjson' } })
    await asked(owner, 'deleteWorkspace', 200, { query: { confirm: 'Other' } })
  })

  test('the health of the server', async () => {
    const owner = await createSignedInUser(server(), 'Operator')
    const workspaces = server().app.db.read.selectFrom('workspaces').select('id').orderBy('id')
    const { id } = await workspaces.executeTakeFirstOrThrow()
    await addToWorkspace(server(), id, owner, 'owner')
    await ask(undefined, 'getDoctorReport', 200, {
      headers: { Cookie: owner.cookie, 'X-Workspace': String(id) },
    })
  })

  test('a workspace that is full', async () => {
    const own = await createTeam(server())
    const headers = { Cookie: own.owner.cookie, 'X-Workspace': String(own.id) }
    const ann = await createSignedInUser(server(), 'Ann')
    const invited = await ask(undefined, 'createInvitation', 201, { headers, body: { email: ann.email } })
    await fillToLimits(server(), own.id, own.owner.id)
    await ask(own, 'createForm', 409, { body: { name: 'One more' } })
    await ask(own, 'createTag', 409, { body: { name: 'One more' } })
    await ask(own, 'createUtmTemplate', 409, { body: { name: 'One more', utmSource: 'x' } })
    await ask(own, 'createView', 409, { body: { name: 'One more' } })
    await ask(own, 'allowSender', 409, { body: { address: 'one.more@example.com' } })
    await ask(own, 'createLink', 409, {
      body: { destinationUrl: 'https://example.com/', tagNames: ['More'] },
    })
    const channel = { type: 'webhook', name: 'One more', url: 'https://hooks.example/x' }
    await ask(own, 'createChannel', 409, { body: channel })
    await ask(undefined, 'createApiKey', 409, { headers, body: { name: 'One more' } })
    await ask(undefined, 'createInvitation', 409, { headers, body: { email: 'more@people.example' } })
    await ask(undefined, 'createWorkspace', 409, { headers, body: { name: 'One more' } })
    const token = new URL(invited.json.data.url).searchParams.get('token')
    const asAnn = { Cookie: ann.cookie }
    await ask(undefined, 'acceptInvitation', 409, { headers: asAnn, body: { token } })
  })

  describe('the errors that all operations share', () => {
    /** Two, because all operations together are more requests than one workspace has in a minute. */
    let places: { own: Team; things: TestResources }[]
    let free: TestWorkspace
    let busy: TestWorkspace
    let stranger: SignedInUser
    beforeAll(async () => {
      const teams = [await createTeam(server()), await createTeam(server())]
      free = await server().createWorkspace('free')
      busy = await server().createWorkspace('pro')
      stranger = await createSignedInUser(server(), 'Sue')
      for (let i = 0; i < 30; i++) expect((await busy.api('/tags')).status).toBe(200)
      places = await Promise.all(
        teams.map(async (own) => ({ own, things: await createTestResources(server(), own, `w${own.id}`) })),
      )
    })

    test.each(documentedOperations)('$method $path', async (operation) => {
      const { id, security, method } = operation
      const { own, things } = places[documentedOperations.indexOf(operation) % 2] as (typeof places)[number]
      const { bodies, ...sample } = getSampleRequest(operation, things)
      const good = { ...sample, ...(bodies ? { body: bodies[0] } : {}) }
      await ask(undefined, id, 401, good)
      await ask(free, id, 403, good)
      await ask(busy, id, 429, good)
      const theirs = { Cookie: stranger.cookie, 'X-Workspace': String(own.id) }
      if (security?.some((way) => 'workspace' in way))
        await ask(undefined, id, 404, { ...good, headers: theirs })
      const entry = toAuthHeaders(operation, own)
      const asked = (status: number, { headers, ...what }: ApiRequest) =>
        ask(undefined, id, status, { ...what, headers: { ...entry, ...headers } })
      await asked(422, { ...good, query: { ...good.query, unknown: '1' } })
      if (good.path) await asked(404, withUnknownIds(good))
      if (!bodies) return
      await asked(422, { ...good, body: method === 'PATCH' ? { unknown: 1 } : {} })
      await asked(400, { ...good, body: '{', headers: JSON_TYPE })
      await asked(413, { ...good, body: ' '.repeat(1024 * 1024 + 1), headers: JSON_TYPE })
      await asked(415, { ...good, headers: { 'Content-Type': 'text/plain' } })
    })
  })

  test('exports, and an import of submissions', async () => {
    const own = await server().createWorkspace()
    for (const format of ['csv', 'ndjson']) await ask(own, 'exportLinks', 200, { query: { format } })
    await ask(own, 'exportWorkspace', 200)
    const { formKey } = await own.createForm()
    const file = 'created_at,name\n2026-03-29,Ada\n'
    await ask(own, 'importSubmissions', 202, { path: { formKey }, body: { file } })
  })

  test('imports: a file is looked at, imported and undone', async () => {
    const own = await server().createWorkspace()
    const file = `slug,url\nimported-${own.id},https://example.com/\nbad slug,https://example.com/\n`
    await ask(own, 'inspectImport', 200, { body: { file } })
    const started = await ask(own, 'createImport', 202, {
      body: { source: 'csv', file, onConflict: 'rename' },
    })
    const { id } = await waitForImport(own, started.json.data.id)
    const path = { id }
    await ask(own, 'getImport', 200, { path })
    const dry = await ask(own, 'createImport', 202, { body: { source: 'csv', file, dryRun: true } })
    await waitForImport(own, dry.json.data.id)
    const page = await ask(own, 'listImports', 200, { query: { limit: '1' } })
    await ask(own, 'listImports', 200, { query: { limit: '1', cursor: page.json.nextCursor } })
    await ask(own, 'listImportRows', 200, { path, query: { limit: '1' } })
    await ask(own, 'exportImportErrors', 200, { path })
    await ask(own, 'deleteImport', 200, { path })
    await waitForImport(own, id)
    await ask(own, 'deleteImport', 409, { path })
  })

  test('the tests above have seen every documented status of every operation', () => {
    const promised = documentedOperations.map(({ id, responses }) => [
      id,
      Object.keys(responses).filter((status) => !NOT_TESTED.includes(status)),
    ])
    const answered = documentedOperations.map(({ id }) => [id, [...(seen.get(id) ?? [])].sort()])
    expect(Object.fromEntries(answered)).toEqual(Object.fromEntries(promised))
  })

  test('a path answers 405 with Allow to other methods, and an unknown path answers 404', async () => {
    const error = { $ref: '#/components/schemas/Error' }
    const paths = [...new Set(documentedOperations.map(({ path }) => path.replace(/\{\w+\}/, '1')))]
    let own = await server().createWorkspace()
    for (const [index, path] of paths.entries()) {
      // All of them are more requests than a workspace may send in a minute.
      if (index % 40 === 39) own = await server().createWorkspace()
      // `/links/bulk` is no link, so it has none of the methods of `/links/{id}`.
      const fitting = documentedOperations.filter((each) => each.path.replace(/\{\w+\}/, '1') === path)
      const methods = new Set(fitting.map(({ method }) => method))
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE']) {
        if (methods.has(method)) continue
        const { status, json, headers } = await own.api(path.slice('/v1'.length), { method })
        expect({ path, method, status, violations: listSchemaErrors(error, json) }).toEqual({
          path,
          method,
          status: 405,
          violations: [],
        })
        expect(headers.get('allow')?.split(', ').sort()).toEqual([...methods].sort())
      }
    }
    for (const path of ['/nothing', '/links/1/nothing', '/Links', '/links/', '//links', '/links/1/qr/']) {
      const { status, json } = await own.api(path)
      expect({ path, status, json }).toEqual({ path, status: 404, json: { error: 'Not found' } })
      expect((await server().call(`/v1${path}`)).status).toBe(401)
    }
  })
}

onBothEngines('answers and the OpenAPI document', compareAnswers, { environment: DEAD_MAIL_SERVER })
