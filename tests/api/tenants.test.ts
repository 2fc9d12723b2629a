// The tenant matrix: every operation with its own key, another workspace's key, no key, a broken key, a revoked key,
// and on the Free plan. Things of another workspace are answered exactly like things that do not exist.

import { beforeAll, expect, test } from 'bun:test'
import { generateApiKey } from '../../server/features/accounts/access/api-key.ts'
import { createKey, revokeKey } from '../../server/features/accounts/access/keys.ts'
import type { HttpAnswer } from '../support/server/http-call.ts'
import { retryWhile503 } from '../support/server/retry-503.ts'
import { createTeam, type Team } from '../support/users/signed-in-user.ts'
import { DEAD_MAIL_SERVER, onBothEngines, type TestServer } from '../support/world.ts'
import { documentedOperations, getOperation, type Operation } from './openapi-document.ts'
import {
  createTestResources,
  getSampleRequest,
  isForOperator,
  isSessionOnly,
  SAMPLE_REQUESTS,
  type SampleRequest,
  type TestResources,
  toAuthHeaders,
  toRequestUrl,
  UNKNOWN_FORM_KEY,
} from './sample-requests.ts'

const TARGET = 'https://example.com/landing'
const RANGE = { start: '2026-01-01', end: '2027-01-01' }

/** For each operation, every way to refer to a thing of a workspace. */
const REFERENCES: Record<string, (things: TestResources) => SampleRequest[]> = {
  // The request itself does not name the workspace: see "workspace that is not the user's" below.
  listWorkspaces: () => [],
  createWorkspace: () => [],
  listAuditEvents: () => [],
  exportAuditEvents: () => [],
  getDoctorReport: () => [],
  getWorkspace: () => [],
  updateWorkspace: () => [],
  deleteWorkspace: () => [],
  listMembers: () => [],
  updateMember: ({ memberId }) => [
    { path: { userId: memberId }, bodies: [{ role: 'owner' }] },
    { path: { userId: memberId }, bodies: [{}] },
  ],
  removeMember: ({ memberId }) => [{ path: { userId: memberId } }],
  listInvitations: () => [],
  createInvitation: () => [],
  // Another user with the link gets another answer on purpose: server/features/accounts/workspaces/invitations.test.ts.
  acceptInvitation: () => [],
  deleteInvitation: ({ invitationId }) => [{ path: { id: invitationId } }],
  listApiKeys: () => [],
  createApiKey: () => [],
  revokeApiKey: ({ keyId }) => [{ path: { id: keyId } }],
  listLinks: ({ tagId, externalId, slug }) =>
    toQuerySamples([{ tagId: `${tagId}` }, { externalId }, { search: slug }]),
  createLink: ({ tagId }) => [{ bodies: [{ destinationUrl: TARGET, tagIds: [tagId] }] }],
  createLinks: ({ tagId }) => [
    { bodies: [[{ destinationUrl: TARGET }, { destinationUrl: TARGET, tagIds: [tagId] }]] },
  ],
  updateLinks: ({ linkId, otherLinkId }) => [
    { bodies: [[{ id: linkId, title: 'Taken' }]] },
    { bodies: [{ links: [{ id: linkId, slug: 'taken' }, { id: otherLinkId }] }] },
    { bodies: [{ ids: [linkId, otherLinkId], data: { destinationUrl: 'https://evil.example/' } }] },
  ],
  editLinks: ({ linkId, tagId }) => [
    { bodies: [{ ids: [linkId], changes: { archived: true } }] },
    { bodies: [{ ids: [linkId], changes: { addTagIds: [tagId] } }] },
    { bodies: [{ undo: [{ id: linkId, updatedAt: '2026-01-31T12:00:00.000Z', archived: true }] }] },
  ],
  deleteLinks: ({ linkId, otherLinkId }) => [
    { query: { ids: `${linkId}` } },
    { query: { ids: `${linkId},${otherLinkId}` } },
  ],
  upsertLink: ({ tagId }) => [{ bodies: [{ destinationUrl: TARGET, tagIds: [tagId] }] }],
  getLink: onLink({}),
  updateLink: onLink({ bodies: [{ destinationUrl: 'https://evil.example/' }] }, { bodies: [{}] }),
  deleteLink: ({ linkId, trashedLinkId }) => [
    { path: { id: linkId } },
    { path: { id: linkId }, query: { permanent: 'true' } },
    { path: { id: trashedLinkId }, query: { permanent: 'true' } },
  ],
  getSlugAvailability: () => [],
  listTrash: () => [],
  restoreLink: ({ trashedLinkId }) => [{ path: { id: trashedLinkId } }],
  restoreLinks: ({ trashedLinkId, otherTrashedLinkId }) => [
    { bodies: [{ ids: [trashedLinkId] }] },
    { bodies: [{ ids: [otherTrashedLinkId, trashedLinkId] }] },
  ],
  emptyTrash: () => [],
  listLinkClicks: onLink({}),
  getLinkQr: onLink({}, { query: { format: 'png' } }),
  // It draws a text, and reads nothing of a link.
  drawQr: () => [],
  resolveLink: onLink({}, { query: { country: 'DE' } }),
  getSplit: onLink({}),
  endSplit: onLink({}),
  listDestinations: () => [],
  repairDestination: ({ linkId }) => [
    { bodies: [{ from: TARGET, to: 'https://evil.example/', linkIds: [linkId] }] },
  ],
  // They name no thing of a workspace.
  readDestinationCard: () => [],
  readCardImage: () => [],
  listFavicons: () => [],
  listImports: () => [],
  createImport: ({ importId }) => [{ bodies: [{ source: 'csv', from: importId }] }],
  importSubmissions: onForm({ bodies: [{ file: 'name\nTaken\n' }] }),
  inspectImport: () => [],
  getImport: onImport({}),
  listImportRows: onImport({}, { query: { outcome: 'failed' } }),
  exportImportErrors: onImport({}),
  deleteImport: onImport({}),
  exportLinks: ({ tagId, externalId, slug }) =>
    toQuerySamples([{ tagId: `${tagId}` }, { externalId }, { search: slug }]),
  exportWorkspace: () => [],
  listTags: ({ tagName }) => [{ query: { search: tagName } }],
  // Tag names are unique in one workspace only: see "the same names" below.
  createTag: () => [],
  updateTag: ({ tagId }) => [{ path: { id: tagId }, bodies: [{ name: 'Taken' }] }],
  deleteTag: ({ tagId }) => [{ path: { id: tagId } }],
  listOutcomes: ({ submissionId, formKey, outcomeId }) =>
    toQuerySamples([{ submissionId: `${submissionId}` }, { formKey }, { externalId: `${outcomeId}` }]),
  createOutcomes: ({ submissionId, email }) => [
    { bodies: [{ submissionId, stage: 'won' }] },
    { bodies: [[{ email, stage: 'won' }]] },
  ],
  importOutcomes: ({ email }) => [{ bodies: [{ csv: `email,stage\n${email},won\n` }] }],
  exportOutcomes: ({ submissionId, formKey }) =>
    toQuerySamples([{ submissionId: `${submissionId}` }, { formKey }]),
  deleteOutcome: ({ outcomeId }) => [{ path: { id: outcomeId } }],
  // It names nothing.
  streamLive: () => [],
  listViews: () => [],
  // A name belongs to no workspace.
  createView: () => [],
  getView: ({ viewId }) => [{ path: { id: viewId } }],
  updateView: ({ viewId }) => [{ path: { id: viewId }, bodies: [{ name: 'Taken' }] }],
  deleteView: ({ viewId }) => [{ path: { id: viewId } }],
  listAllowedSenders: () => [],
  // The same address may be allowed in each workspace.
  allowSender: () => [],
  deleteAllowedSender: ({ allowedSenderId }) => [{ path: { id: allowedSenderId } }],
  listUtmTemplates: () => [],
  // A name belongs to no workspace.
  createUtmTemplate: () => [],
  getUtmTemplate: ({ utmTemplateId }) => [{ path: { id: utmTemplateId } }],
  updateUtmTemplate: ({ utmTemplateId }) => [{ path: { id: utmTemplateId }, bodies: [{ name: 'Taken' }] }],
  deleteUtmTemplate: ({ utmTemplateId }) => [{ path: { id: utmTemplateId } }],
  listDomains: () => [],
  // Another workspace may have the name too, until one of them proves it: see "one name" in the tests of domains.
  createDomain: () => [],
  getDomain: ({ domainId }) => [{ path: { id: domainId } }],
  updateDomain: ({ domainId }) => [
    { path: { id: domainId }, bodies: [{ rootUrl: 'https://evil.example/' }] },
    { path: { id: domainId }, bodies: [{}] },
  ],
  deleteDomain: ({ domainId }) => [
    { path: { id: domainId } },
    { path: { id: domainId }, query: { moveTo: 'default' } },
  ],
  verifyDomain: ({ domainId }) => [{ path: { id: domainId } }],
  countClicks: ({ linkId, tagId, slug }) =>
    toGroupedSamples(
      ['linkId', 'tagId', 'slug', 'country', 'time'],
      [{ linkId: `${linkId}` }, { tagId: `${tagId}` }, { slug }, { linkId: `-${linkId}` }],
    ),
  listMissingSlugs: () => [{ query: RANGE }],
  listProofs: () => [],
  verifyProof: () => [],
  reconcile: ({ linkId, slug }) =>
    [{ linkId: `${linkId}` }, { slug }].map((filters) => ({
      bodies: [{ csv: 'date,clicks\n2026-03-29,4\n', filters }],
    })),
  exportClicks: ({ linkId, tagId, slug }) => {
    const filters: Record<string, string>[] = [
      { linkId: `${linkId}` },
      { tagId: `${tagId}` },
      { slug },
      { linkId: `-${linkId}` },
    ]
    return toQuerySamples(filters.map((filter) => ({ ...RANGE, class: 'all', format: 'ndjson', ...filter })))
  },
  countLeads: ({ linkId, tagId, slug, formKey }) =>
    toGroupedSamples(
      ['linkId', 'tagId', 'slug', 'form', 'page', 'time'],
      [
        { linkId: `${linkId}` },
        { tagId: `${tagId}`, model: 'linear' },
        { slug },
        { form: formKey },
        { form: `-${formKey}` },
        { linkId: `-${linkId}` },
      ],
    ),
  exportLeads: ({ linkId, tagId, slug, formKey }) => {
    const filters: Record<string, string>[] = [
      { linkId: `${linkId}` },
      { tagId: `${tagId}`, model: 'linear' },
      { slug },
      { form: formKey },
      { linkId: `-${linkId}` },
    ]
    return toQuerySamples(filters.map((filter) => ({ ...RANGE, format: 'ndjson', ...filter })))
  },
  getFunnel: ({ linkId, tagId, slug }) =>
    toGroupedSamples(
      ['link', 'tag', 'campaign', 'country'],
      [{ linkId: `${linkId}` }, { tagId: `${tagId}`, model: 'first' }, { slug }, { linkId: `-${linkId}` }],
    ),
  listSparklines: ({ linkId }) => [{ query: { linkIds: `${linkId}` } }],
  answerQuestions: ({ linkId, tagId, slug, formKey }) =>
    [{ linkId: `${linkId}` }, { tagId: `${tagId}` }, { slug }, { linkId: [`-${linkId}`] }].flatMap(
      (filter) => [
        { bodies: [{ questions: [{ about: 'clicks', query: { ...RANGE, groupBy: 'link', ...filter } }] }] },
        {
          bodies: [
            {
              questions: [
                { about: 'leads', query: { ...RANGE, form: formKey } },
                { about: 'funnel', query: { ...RANGE, groupBy: 'link', ...filter } },
              ],
            },
          ],
        },
      ],
    ),
  // No request refers to a form by its name.
  listForms: () => [],
  createForm: ({ channelId }) => [{ bodies: [{ name: 'Taken', channelIds: [channelId] }] }],
  getForm: onForm({}),
  updateForm: onForm({ bodies: [{ name: 'Taken', enabled: false }] }, { bodies: [{}] }),
  deleteForm: onForm({}),
  createFormTest: onForm({}),
  getFormLosses: onForm({}, { query: { start: '2026-01-01' } }),
  checkForm: onForm({ bodies: [{ html: '<form></form>' }] }),
  listSubmissions: onForm({}, { query: { search: 'message' } }),
  createSubmission: onForm({ bodies: [{ fields: { message: 'Taken' } }] }),
  listAllSubmissions: ({ formKey, email }) =>
    toQuerySamples([{ formKey }, { email }, { search: email, status: 'new,read' }]),
  exportSubmissions: onForm({}, { query: { format: 'json' } }, { query: { format: 'ndjson' } }),
  getSubmission: onSubmission({}),
  getSubmissionFiles: onSubmission({}),
  getFile: ({ fileId }) => [{ path: { id: fileId } }],
  previewFile: ({ fileId }) => [{ path: { id: fileId } }],
  updateSubmission: onSubmission({ bodies: [{ status: 'spam', notes: 'Taken' }] }, { bodies: [{}] }),
  deleteSubmission: onSubmission({}),
  updateSubmissions: ({ submissionId }) => [{ bodies: [{ ids: [submissionId], status: 'spam' }] }],
  deleteSubmissions: ({ submissionId }) => toQuerySamples([{ ids: `${submissionId}` }]),
  // A zip, which has the time: forms/erasure/person.test.ts.
  exportPerson: () => [],
  listErasures: ({ email }) => toQuerySamples([{}, { email }]),
  eraseSubmissions: ({ email }) => toQuerySamples([{ email }, { email: email.toUpperCase() }]),
  getSubmissionAttribution: onSubmission({}),
  listReplies: onSubmission({}),
  sendReply: onSubmission({ bodies: [{ subject: 'Re: Contact', text: 'Thanks' }] }),
  listChannels: () => [],
  createChannel: () => [],
  getChannel: onChannel({}),
  updateChannel: onChannel({ bodies: [{ name: 'Taken', enabled: false }] }, { bodies: [{}] }),
  deleteChannel: onChannel({}),
  testChannel: onChannel({}),
  previewChannel: onChannel({ bodies: [{ template: null }] }),
  askChannelRecipients: onChannel({}),
  rotateChannelSecret: onChannel({}),
  listDeliveries: ({ channelId, formKey, submissionId }) =>
    toQuerySamples([{ channelId: `${channelId}` }, { formKey }, { submissionId: `${submissionId}` }]),
  getDelivery: ({ deliveryId }) => [{ path: { id: deliveryId } }],
  retryDelivery: ({ deliveryId }) => [{ path: { id: deliveryId } }],
  retryFailedDeliveries: ({ channelId }) => [
    { bodies: [{ since: '2020-01-01T00:00:00Z' }] },
    { bodies: [{ since: '2020-01-01T00:00:00Z', channelId }] },
  ],
}

function onChannel(...samples: SampleRequest[]) {
  return ({ channelId }: TestResources) => samples.map((sample) => ({ ...sample, path: { id: channelId } }))
}

function onForm(...samples: SampleRequest[]) {
  return ({ formKey }: TestResources) => samples.map((sample) => ({ ...sample, path: { formKey } }))
}

function onSubmission(...samples: SampleRequest[]) {
  return ({ submissionId }: TestResources) =>
    samples.map((sample) => ({ ...sample, path: { id: submissionId } }))
}

function toQuerySamples(queries: Record<string, string>[]): SampleRequest[] {
  return queries.map((query) => ({ query }))
}

/** Each filter with the first grouping, each grouping with the first filter, and the pairs with the same index. */
function toGroupedSamples(groupings: string[], filters: Record<string, string>[]): SampleRequest[] {
  return groupings.flatMap((groupBy, row) =>
    toQuerySamples(
      filters
        .filter((_, column) => row === 0 || column === 0 || row === column)
        .map((filter) => ({
          ...RANGE,
          groupBy,
          ...(groupBy === 'time' ? { granularity: 'month' } : {}),
          ...filter,
        })),
    ),
  )
}

function onLink(...samples: SampleRequest[]) {
  return ({ linkId }: TestResources) => samples.map((sample) => ({ ...sample, path: { id: linkId } }))
}

function onImport(...samples: SampleRequest[]) {
  return ({ importId }: TestResources) => samples.map((sample) => ({ ...sample, path: { id: importId } }))
}

const NONEXISTENT: TestResources = {
  linkId: 999_999_001,
  otherLinkId: 999_999_002,
  trashedLinkId: 999_999_010,
  otherTrashedLinkId: 999_999_011,
  slug: 'never-slug',
  externalId: 'never-external',
  importId: 999_999_013,
  tagId: 999_999_003,
  tagName: 'never tag',
  domainId: 999_999_012,
  freeDomain: 'never.example',
  formKey: UNKNOWN_FORM_KEY,
  submissionId: 999_999_004,
  fileId: 999_999_015,
  allowedSenderId: 999_999_014,
  outcomeId: 999_999_016,
  viewId: 999_999_017,
  utmTemplateId: 999_999_117,
  email: 'never@example.com',
  channelId: 999_999_005,
  deliveryId: 999_999_006,
  memberId: 999_999_007,
  invitationId: 999_999_008,
  token: 'never',
  keyId: 999_999_009,
  workspaceName: 'never',
}

const BROKEN_KEYS = [
  'Bearer',
  'Bearer ',
  'Bearer tp_',
  'Bearer undefined',
  'Bearer null',
  `Bearer ${'x'.repeat(5000)}`,
  "Bearer ' OR '1'='1",
  'Bearer tp_%00',
  'Basic dXNlcjpwYXNzd29yZA==',
  'Digest username="x"',
]

function send(
  server: TestServer,
  { method, ...rest }: Operation,
  sample: SampleRequest,
  headers: Record<string, string>,
) {
  const url = toRequestUrl({ method, ...rest }, sample)
  return retryWhile503(() => server.call(url, { method, body: sample.bodies?.[0], headers }))
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })

/** The answer without the email address of the request, which the answer repeats. */
function withoutRequestedEmail({ status, headers, text }: HttpAnswer, sample: SampleRequest): HttpAnswer {
  const email = sample.query?.email
  // An erasure answers a receipt of its own each time.
  const shown = text.replace(/"receipt":\{"id":\d+,"at":"[^"]+"/, '"receipt":{"id":0')
  return { status, headers, text: email ? shown.replace(`"${email}"`, '"<email>"') : shown, json: undefined }
}

/** The parts of an answer by which a caller could tell two answers apart. */
function toComparable({ status, headers, text }: HttpAnswer, things: TestResources) {
  const own = /^(x-request-id|date|x-ratelimit-(remaining|reset)|x-counted-until|content-length)$/
  let body = text
  // A message may repeat the id of the request, and so does the list of what failed. `1.tagIds` is a location in the body
  // and stays.
  for (const value of Object.values(things)) {
    if ((status >= 400 || body.includes('"failed":[{')) && typeof value === 'number')
      body = body.replace(new RegExp(`\\b${value}\\b(?!\\.)`, 'g'), '<id>')
  }
  return { status, headers: [...headers].filter(([name]) => !own.test(name)), body }
}

test('every operation has a row in the matrix', () => {
  const ids = documentedOperations.map(({ id }) => id).sort()
  expect(Object.keys(REFERENCES).sort()).toEqual(ids)
  expect(Object.keys(SAMPLE_REQUESTS).sort()).toEqual(ids)
})

onBothEngines(
  'the tenant matrix',
  (server) => {
    interface Tenant extends Team {
      mark: string
      things: TestResources
    }

    async function createTenant(): Promise<Tenant> {
      const workspace = await createTeam(server())
      const mark = `mark${workspace.id}x`
      return { ...workspace, mark, things: await createTestResources(server(), workspace, mark) }
    }

    /** Everything that the API shows of a workspace, read by its owner, whose rate limit is higher than a key's. */
    async function readState({ owner, id }: Team) {
      const get = (path: string) => owner.apiIn(id, path)
      const lists = ['/links?archived=all', '/tags', '/forms', '/channels', '/deliveries']
      const answers = await Promise.all(lists.map(get))
      const [links, tags, forms, channels, deliveries] = answers.map(({ json }) => json)
      const paths = forms.data.map(({ formKey }: { formKey: string }) => `/forms/${formKey}/submissions`)
      const submissions = await Promise.all(paths.map(async (path: string) => (await get(path)).json))
      const people = await Promise.all(['/workspace', '/members', '/invitations', '/keys?limit=100'].map(get))
      // These two fields of a key change with every request.
      const peopleTexts = people.map(({ text }) =>
        text.replaceAll(/"(?:lastUsedAt|requestsLastMinute)":("[^"]+"|null|\d+)/g, ''),
      )
      return { links, tags, forms, submissions, channels, deliveries, peopleTexts }
    }

    /** No request below may change this workspace. */
    let own: Tenant
    let before: Awaited<ReturnType<typeof readState>>
    let stranger: Team
    /** The workspace for all operations that delete nothing. */
    let busy: Tenant
    let free: string
    let revoked: string

    beforeAll(async () => {
      const needs = { db: server().app.db, now: server().now }
      own = await createTenant()
      busy = await createTenant()
      stranger = await createTeam(server())
      free = (await server().createWorkspace('free')).key
      const key = await createKey(needs, own.id, 'revoked')
      expect((await server().call('/v1/links', { headers: bearer(key.key) })).status).toBe(200)
      await revokeKey(needs, key.id)
      revoked = key.key
      await server().click(own.things.slug)
      await server().waitUntilShipped()
      before = await readState(own)
      expect([before.links.total, before.submissions[0].total, before.deliveries.total]).toEqual([2, 1, 1])
    }, 120_000)

    test.each(documentedOperations)('$method $path works for its own workspace', async (operation) => {
      const here = operation.method === 'DELETE' ? await createTenant() : busy
      const sample = getSampleRequest(operation, here.things)
      if (isSessionOnly(operation)) {
        expect((await send(server(), operation, sample, bearer(here.key))).status).toBe(403)
      }
      const { status } = await send(server(), operation, sample, toAuthHeaders(operation, here))
      if (isForOperator(operation)) expect(status).toBe(404)
      else expect(status).toBeWithin(200, 300)
    })

    const inWorkspace = documentedOperations.filter(({ security }) =>
      security?.some((way) => 'workspace' in way),
    )

    test.each(inWorkspace)(
      "$method $path answers the same for a workspace that is not the user's as for one that does not exist",
      async (operation) => {
        const { owner, id } = stranger
        const asked = (workspaceId: number | string, cookie = owner.cookie) =>
          send(server(), operation, getSampleRequest(operation, own.things), {
            Cookie: cookie,
            'X-Workspace': String(workspaceId),
          })
        const answers = await Promise.all(
          [own.id, 999_999_999, 'x', `${id} `.repeat(2), `0${id}`].map((each) => asked(each)),
        )
        const [theirs, ...none] = answers.map((answer) => toComparable(answer, own.things))
        expect(theirs?.body).toBe('{"error":"Workspace not found"}')
        for (const each of none) expect(each).toEqual(theirs as typeof each)
        const nowhere = await send(server(), operation, getSampleRequest(operation, own.things), {
          Cookie: owner.cookie,
        })
        expect([nowhere.status, Object.keys(nowhere.json.errors)]).toEqual([422, ['X-Workspace']])
        expect((await asked(own.id, `${own.owner.cookie.slice(0, 30)}.x`)).status).toBe(401)
      },
    )

    test.each(documentedOperations)(
      "$method $path answers about another's things as about none",
      async (operation) => {
        const samples = REFERENCES[operation.id]?.(own.things) ?? []
        if (samples.length === 0) return
        const other = await createTeam(server())
        const nevers = REFERENCES[operation.id]?.(NONEXISTENT) ?? []
        const entry = toAuthHeaders(operation, other)
        for (const [i, sample] of samples.entries()) {
          const answer = withoutRequestedEmail(await send(server(), operation, sample, entry), sample)
          const never = nevers[i] as SampleRequest
          const unknown = withoutRequestedEmail(await send(server(), operation, never, entry), never)
          expect(toComparable(answer, own.things)).toEqual(toComparable(unknown, NONEXISTENT))
          expect(answer.text).not.toContain(own.mark)
          expect(answer.status).toBeLessThan(500)
          if (sample.path) expect(answer.status).toBe(404)
        }
        for (const path of ['/links?archived=all', '/forms', '/channels'])
          expect((await other.owner.apiIn(other.id, path)).json.data).toEqual([])
      },
    )

    /** One function checks keys for all operations: all broken keys are sent to one read and to one write. */
    const WITH_ALL_BROKEN_KEYS = ['listLinks', 'createLink']

    test.each(documentedOperations)(
      '$method $path answers 401 without a key and with an invalid key',
      async (operation) => {
        const sample = getSampleRequest(operation, own.things)
        const none = await send(server(), operation, sample, {})
        expect({ status: none.status, json: none.json }).toEqual({
          status: 401,
          json: { error: 'Missing API key' },
        })
        expect(none.headers.get('www-authenticate')).toBe('Bearer')

        const { key } = own
        const twisted = [`${key} ${key}`, key.toUpperCase(), key.slice(3), `"${key}"`]
        const closed = [revoked, generateApiKey(), key.slice(0, -1), `${key}x`].map(
          (each) => `Bearer ${each}`,
        )
        const others = [...twisted.map((each) => `Bearer ${each}`), `Basic ${key}`, key, ...BROKEN_KEYS]
        const answers = new Set<string>()
        for (const Authorization of [
          ...closed,
          ...(WITH_ALL_BROKEN_KEYS.includes(operation.id) ? others : []),
        ]) {
          const answer = await send(server(), operation, sample, { Authorization })
          expect({ Authorization, status: answer.status }).toEqual({ Authorization, status: 401 })
          expect(answer.headers.get('www-authenticate')).toBe('Bearer')
          answers.add(JSON.stringify(toComparable(answer, own.things)))
        }
        // The answer does not tell whether a key is revoked, unknown or misspelt.
        expect([...answers]).toHaveLength(1)
        expect([...answers][0]).toContain('Invalid API key')
      },
    )

    test.each(documentedOperations)('$method $path answers 403 on the Free plan', async (operation) => {
      const answer = await send(server(), operation, getSampleRequest(operation, own.things), bearer(free))
      expect(answer.status).toBe(403)
      expect(answer.json).toEqual({ error: 'API access requires a Pro plan or higher' })
      expect(answer.headers.get('x-ratelimit-limit')).toBe('0')
    })

    test('none of these requests has changed the workspace', async () => {
      expect(await readState(own)).toEqual(before)
    })

    test('lists and analytics of another workspace show nothing of this one', async () => {
      const own = await createTenant()
      const other = await createTenant()
      await server().click(own.things.slug)
      await server().waitUntilShipped()
      const lists = [
        'listLinks',
        'listTags',
        'listForms',
        'listAllSubmissions',
        'listChannels',
        'listDeliveries',
      ].map((id) => ({ id, query: {} as Record<string, string> }))
      const groups = [undefined, 'link', 'tag', 'slug', 'domain', 'referrer', 'country', 'class', 'time']
      const counts = groups.map((groupBy) => ({
        id: 'countClicks',
        query: {
          ...RANGE,
          class: 'all',
          ...(groupBy ? { groupBy } : {}),
          ...(groupBy === 'time' ? { granularity: 'month' } : {}),
        },
      }))
      for (const { id, query } of [...lists, ...counts]) {
        const ours = await send(server(), getOperation(id), { query }, bearer(own.key))
        const theirs = await send(server(), getOperation(id), { query }, bearer(other.key))
        expect(theirs.status).toBe(200)
        expect(theirs.text).not.toContain(own.mark)
        if (id !== 'countClicks') continue
        expect(ours.text).toContain('"clicks":1')
        expect(theirs.text).not.toMatch(/"(clicks|visitors)":[1-9]/)
      }
      for (const groupBy of [undefined, 'link', 'form', 'page', 'country', 'tag']) {
        const asked = { query: { ...RANGE, ...(groupBy ? { groupBy } : {}) } }
        const [ours, theirs] = await Promise.all(
          [own, other].map(({ key }) => send(server(), getOperation('countLeads'), asked, bearer(key))),
        )
        if (groupBy !== 'tag') expect(ours?.text).toContain('"leads":1')
        expect(theirs?.status).toBe(200)
        expect(theirs?.text).not.toContain(own.things.formKey)
        expect(theirs?.text).not.toContain('"leads":2')
      }
      const funnels = await Promise.all(
        [own, other].map(({ key }) =>
          send(server(), getOperation('getFunnel'), { query: RANGE }, bearer(key)),
        ),
      )
      expect(funnels.map(({ json }) => [json.data.clicks, json.data.leads])).toEqual([
        [1, 1],
        [0, 1],
      ])
      const query = { ...RANGE, class: 'all', format: 'ndjson' }
      const exported = async (key: string) =>
        (await send(server(), getOperation('exportClicks'), { query }, bearer(key))).text
      expect(await exported(own.key)).toContain(own.mark)
      expect(await exported(other.key)).toBe('')
      for (const { key, things } of [own, other]) {
        const asked = { query: { ...RANGE, format: 'ndjson' } }
        const { text } = await send(server(), getOperation('exportLeads'), asked, bearer(key))
        expect(JSON.parse(text).form).toBe(things.formKey)
      }
      expect((await own.api(`/links/${own.things.linkId}`)).json.data.clicks).toBe(1)
    })

    test('a cursor of this workspace shows another workspace none of its rows', async () => {
      const own = await createTenant()
      const other = await createTenant()
      const { json } = await own.api('/links?limit=1')
      const theirs = await other.api(`/links?limit=50&cursor=${json.nextCursor}`)
      expect(theirs.text).not.toContain(own.mark)
    })

    test('two workspaces can use the same names: external ids, tag names and idempotency keys are separate', async () => {
      const own = await createTenant()
      const other = await server().createWorkspace()
      const before = await readState(own)
      const { tagName, externalId, tagId, linkId } = own.things
      const headers = { 'Idempotency-Key': `same-${own.id}` }
      const body = { destinationUrl: TARGET }
      const first = await own.api('/links', { method: 'POST', body, headers })
      const twin = await other.api('/links', { method: 'POST', body, headers })
      expect(twin.headers.get('idempotency-replayed')).toBeNull()
      expect(twin.json.data.id).not.toBe(first.json.data.id)
      await own.api(`/links/${first.json.data.id}`, { method: 'DELETE' })

      const link = await other.api('/links/upsert', {
        method: 'PUT',
        body: { destinationUrl: TARGET, externalId, tagNames: [tagName] },
      })
      expect(link.status).toBe(201)
      expect(link.json.data.id).not.toBe(linkId)
      expect(link.json.data.tags[0].id).not.toBe(tagId)
      const tag = await other.api('/tags', { method: 'POST', body: { name: `${tagName} two` } })
      expect(tag.status).toBe(201)
      expect(await readState(own)).toEqual(before)
    })

    test('requests of another workspace do not count against the rate limit', async () => {
      const own = await server().createWorkspace('pro')
      const other = await server().createWorkspace('pro')
      for (let i = 0; i < 31; i++) await other.api('/tags')
      expect((await other.api('/tags')).status).toBe(429)
      const { status, headers } = await own.api('/tags')
      expect({ status, remaining: headers.get('x-ratelimit-remaining') }).toEqual({
        status: 200,
        remaining: '29',
      })
    })
  },
  { environment: DEAD_MAIL_SERVER },
)
