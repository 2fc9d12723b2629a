// One valid request for every operation. Tests change it, or send it with another workspace's key.

import { createRateLimiter } from '../../server/features/accounts/access/rate-limiter.ts'
import { invite } from '../../server/features/accounts/workspaces/invite.ts'
import { appendProofs } from '../../server/features/proofs/proof-chain.ts'
import { newestSubmission } from '../support/newest-submission.ts'
import type { Team } from '../support/users/signed-in-user.ts'
import type { TestServer, TestWorkspace } from '../support/world.ts'
import { toRawJson } from './hostile-input.ts'
import type { Operation } from './openapi-document.ts'

/** The ids and names of the things that a workspace has for the sample requests. */
export interface TestResources {
  linkId: number
  otherLinkId: number
  /** Two links in the trash. */
  trashedLinkId: number
  otherTrashedLinkId: number
  slug: string
  externalId: string
  /** A dry run that is done, and had an error. */
  importId: number
  tagId: number
  tagName: string
  domainId: number
  /** Another name of a domain, which nobody has. */
  freeDomain: string
  formKey: string
  submissionId: number
  /** The file of that submission. */
  fileId: number
  /** The email address in that submission. */
  email: string
  allowedSenderId: number
  outcomeId: number
  viewId: number
  utmTemplateId: number
  channelId: number
  deliveryId: number
  /** The user id of the member, who is no owner. */
  memberId: number
  invitationId: number
  /** The token of an invitation that the owner of this workspace has to another workspace. */
  token: string
  keyId: number
  /** The name of the workspace. */
  workspaceName: string
}

export interface SampleRequest {
  path?: Record<string, string | number>
  query?: Record<string, string>
  /** Several bodies when the document gives the body several forms. */
  bodies?: unknown[]
}

const TARGET = 'https://example.com/landing'
const IMPORTED_FILE = `slug,destinationUrl\n,${TARGET}\n`
/** An address that the server refuses before it sends anything: no test sends requests to other machines. */
const HOOK = 'http://127.0.0.1:1/hook'

/**
 * Only owners of the first workspace get an answer, and the workspaces of these tests are later ones:
 * server/features/doctor/report/doctor.test.ts.
 */
export const isForOperator = ({ id }: Pick<Operation, 'id'>) => id === 'getDoctorReport'

/** A day that each workspace has closed. */
const PROOF_DAY = '2026-03-29'

export const SAMPLE_REQUESTS: Record<string, (things: TestResources) => SampleRequest> = {
  listWorkspaces: () => ({}),
  createWorkspace: () => ({ bodies: [{ name: 'New workspace' }] }),
  getWorkspace: () => ({}),
  updateWorkspace: () => ({ bodies: [{ name: 'Other name' }] }),
  deleteWorkspace: ({ workspaceName }) => ({ query: { confirm: workspaceName } }),
  listMembers: () => ({}),
  updateMember: ({ memberId }) => ({ path: { userId: memberId }, bodies: [{ role: 'owner' }] }),
  removeMember: ({ memberId }) => ({ path: { userId: memberId } }),
  listInvitations: () => ({}),
  createInvitation: () => ({ bodies: [{ email: 'guest@people.example', role: 'owner' }] }),
  acceptInvitation: ({ token }) => ({ bodies: [{ token }] }),
  deleteInvitation: ({ invitationId }) => ({ path: { id: invitationId } }),
  listApiKeys: () => ({}),
  createApiKey: () => ({ bodies: [{ name: 'New key' }] }),
  listAuditEvents: () => ({ query: { action: 'key.created' } }),
  exportAuditEvents: () => ({ query: { format: 'ndjson' } }),
  getDoctorReport: () => ({}),
  revokeApiKey: ({ keyId }) => ({ path: { id: keyId } }),
  listLinks: () => ({}),
  createLink: () => ({ bodies: [{ destinationUrl: TARGET }] }),
  createLinks: () => {
    const links = [{ destinationUrl: TARGET }]
    return { bodies: [links, { links }] }
  },
  updateLinks: ({ linkId, otherLinkId }) => {
    const links = [{ id: linkId, title: 'New' }, { id: otherLinkId }]
    return { bodies: [links, { links }, { ids: [linkId, otherLinkId], data: { title: 'New' } }] }
  },
  editLinks: ({ linkId }) => ({
    bodies: [
      { ids: [linkId], changes: { archived: true } },
      { undo: [{ id: linkId, updatedAt: '2026-01-31T12:00:00.000Z', archived: false }] },
    ],
  }),
  deleteLinks: ({ linkId, otherLinkId }) => ({ query: { ids: `${linkId},${otherLinkId}` } }),
  upsertLink: ({ externalId }) => ({ bodies: [{ destinationUrl: TARGET, externalId }] }),
  getLink: ({ linkId }) => ({ path: { id: linkId } }),
  updateLink: ({ linkId }) => ({ path: { id: linkId }, bodies: [{ title: 'New' }] }),
  deleteLink: ({ linkId }) => ({ path: { id: linkId } }),
  getSlugAvailability: ({ slug }) => ({ query: { slug: `${slug}-two` } }),
  listTrash: () => ({}),
  restoreLink: ({ trashedLinkId }) => ({ path: { id: trashedLinkId } }),
  restoreLinks: ({ otherTrashedLinkId }) => ({ bodies: [{ ids: [otherTrashedLinkId] }] }),
  emptyTrash: () => ({}),
  listLinkClicks: ({ linkId }) => ({ path: { id: linkId } }),
  getLinkQr: ({ linkId }) => ({ path: { id: linkId } }),
  drawQr: () => ({ bodies: [{ slug: 'not-yet' }] }),
  resolveLink: ({ linkId }) => ({ path: { id: linkId } }),
  getSplit: ({ otherLinkId }) => ({ path: { id: otherLinkId } }),
  endSplit: ({ otherLinkId }) => ({ path: { id: otherLinkId } }),
  listDestinations: () => ({ query: { state: 'broken,parked' } }),
  repairDestination: ({ linkId }) => ({ bodies: [{ from: TARGET, to: `${TARGET}-2`, linkIds: [linkId] }] }),
  readDestinationCard: () => ({ bodies: [{ url: HOOK }] }),
  readCardImage: () => ({ bodies: [{ url: HOOK }] }),
  listImports: () => ({}),
  createImport: () => ({ bodies: [{ source: 'csv', file: IMPORTED_FILE, dryRun: true }] }),
  importSubmissions: ({ formKey }) => ({
    path: { formKey },
    bodies: [{ file: 'created_at,name\n2026-03-29,Ada\n', dryRun: true }],
  }),
  inspectImport: () => ({ bodies: [{ file: IMPORTED_FILE }] }),
  getImport: ({ importId }) => ({ path: { id: importId } }),
  listImportRows: ({ importId }) => ({ path: { id: importId }, query: { outcome: 'failed' } }),
  exportImportErrors: ({ importId }) => ({ path: { id: importId } }),
  deleteImport: ({ importId }) => ({ path: { id: importId } }),
  listTags: () => ({}),
  createTag: ({ tagName }) => ({ bodies: [{ name: `${tagName} two` }] }),
  updateTag: ({ tagId, tagName }) => ({ path: { id: tagId }, bodies: [{ name: `${tagName} three` }] }),
  deleteTag: ({ tagId }) => ({ path: { id: tagId } }),
  listUtmTemplates: () => ({}),
  createUtmTemplate: () => ({ bodies: [{ name: 'New template', utmSource: 'newsletter' }] }),
  getUtmTemplate: ({ utmTemplateId }) => ({ path: { id: utmTemplateId } }),
  updateUtmTemplate: ({ utmTemplateId }) => ({
    path: { id: utmTemplateId },
    bodies: [{ name: 'Other name' }],
  }),
  deleteUtmTemplate: ({ utmTemplateId }) => ({ path: { id: utmTemplateId } }),
  listDomains: () => ({}),
  createDomain: ({ freeDomain }) => ({ bodies: [{ domain: freeDomain }] }),
  getDomain: ({ domainId }) => ({ path: { id: domainId } }),
  updateDomain: ({ domainId }) => ({ path: { id: domainId }, bodies: [{ rootUrl: TARGET }] }),
  deleteDomain: ({ domainId }) => ({ path: { id: domainId } }),
  verifyDomain: ({ domainId }) => ({ path: { id: domainId } }),
  countClicks: () => ({ query: { groupBy: 'link' } }),
  listMissingSlugs: () => ({ query: { limit: '10' } }),
  listProofs: () => ({}),
  verifyProof: () => ({ path: { day: PROOF_DAY } }),
  reconcile: () => ({ bodies: [{ csv: 'date,clicks\n2026-03-29,4\n', filters: { country: 'DE' } }] }),
  exportLinks: () => ({ query: { format: 'ndjson' } }),
  exportWorkspace: () => ({}),
  exportClicks: () => ({ query: { format: 'ndjson' } }),
  countLeads: () => ({ query: { groupBy: 'form' } }),
  exportLeads: () => ({ query: { format: 'ndjson' } }),
  getFunnel: () => ({ query: { groupBy: 'link' } }),
  listFavicons: () => ({ query: { hosts: 'example.com' } }),
  listSparklines: ({ linkId }) => ({ query: { linkIds: String(linkId) } }),
  answerQuestions: () => ({
    bodies: [
      {
        questions: [
          { about: 'clicks', query: {} },
          { about: 'leads', query: { groupBy: 'form' } },
          { about: 'funnel', query: { linkId: ['1', '2'] } },
        ],
      },
    ],
  }),
  listForms: () => ({}),
  createForm: () => ({ bodies: [{ name: 'New form' }] }),
  getForm: ({ formKey }) => ({ path: { formKey } }),
  updateForm: ({ formKey }) => ({ path: { formKey }, bodies: [{ name: 'Other name' }] }),
  deleteForm: ({ formKey }) => ({ path: { formKey } }),
  getFormLosses: ({ formKey }) => ({ path: { formKey } }),
  createFormTest: ({ formKey }) => ({ path: { formKey } }),
  checkForm: ({ formKey }) => ({
    path: { formKey },
    bodies: [{ html: '<form></form>', pageUrl: TARGET }, { url: 'http://127.0.0.1/' }],
  }),
  listSubmissions: ({ formKey }) => ({ path: { formKey } }),
  createSubmission: ({ formKey }) => ({
    path: { formKey },
    // A blank one is announced to nobody, and one without an address is looked for in no clicks: nothing of it goes on
    // behind the next requests of a test.
    bodies: [{ fields: { message: '' }, pageUrl: TARGET }],
  }),
  listAllSubmissions: ({ formKey }) => ({ query: { formKey } }),
  exportSubmissions: ({ formKey }) => ({ path: { formKey }, query: { format: 'ndjson' } }),
  getSubmission: ({ submissionId }) => ({ path: { id: submissionId } }),
  getSubmissionFiles: ({ submissionId }) => ({ path: { id: submissionId } }),
  getFile: ({ fileId }) => ({ path: { id: fileId } }),
  previewFile: ({ fileId }) => ({ path: { id: fileId } }),
  updateSubmission: ({ submissionId }) => ({ path: { id: submissionId }, bodies: [{ status: 'read' }] }),
  deleteSubmission: ({ submissionId }) => ({ path: { id: submissionId } }),
  updateSubmissions: ({ submissionId }) => ({ bodies: [{ ids: [submissionId], status: 'archived' }] }),
  deleteSubmissions: ({ submissionId }) => ({ query: { ids: `${submissionId}` } }),
  eraseSubmissions: ({ email }) => ({ query: { email } }),
  exportPerson: ({ email }) => ({ query: { email } }),
  listErasures: ({ email }) => ({ query: { email } }),
  getSubmissionAttribution: ({ submissionId }) => ({ path: { id: submissionId } }),
  listReplies: ({ submissionId }) => ({ path: { id: submissionId } }),
  sendReply: ({ submissionId }) => ({
    path: { id: submissionId },
    bodies: [{ subject: 'Re: Contact', text: 'Thanks' }],
  }),
  listOutcomes: ({ submissionId }) => ({ query: { submissionId: `${submissionId}` } }),
  createOutcomes: ({ submissionId, email }) => {
    const won = { submissionId, stage: 'won', value: '12.50', currency: 'EUR' }
    return { bodies: [won, [{ email, stage: 'lost' }], { outcomes: [won] }] }
  },
  importOutcomes: ({ email }) => ({ bodies: [{ csv: `email,stage\n${email},won\n` }] }),
  exportOutcomes: () => ({ query: { format: 'google-ads' } }),
  deleteOutcome: ({ outcomeId }) => ({ path: { id: outcomeId } }),
  streamLive: () => ({ query: { seconds: '0' } }),
  listViews: () => ({ query: { limit: '10' } }),
  createView: () => ({ bodies: [{ name: 'New view', filters: { country: 'US' } }] }),
  getView: ({ viewId }) => ({ path: { id: viewId } }),
  updateView: ({ viewId }) => ({ path: { id: viewId }, bodies: [{ name: 'Other name' }] }),
  deleteView: ({ viewId }) => ({ path: { id: viewId } }),
  listAllowedSenders: () => ({ query: { limit: '10' } }),
  allowSender: ({ email }) => ({ bodies: [{ address: `other.${email}` }] }),
  deleteAllowedSender: ({ allowedSenderId }) => ({ path: { id: allowedSenderId } }),
  listChannels: () => ({}),
  createChannel: () => ({ bodies: [{ type: 'webhook', name: 'New channel', url: HOOK }] }),
  getChannel: ({ channelId }) => ({ path: { id: channelId } }),
  updateChannel: ({ channelId }) => ({ path: { id: channelId }, bodies: [{ name: 'Other name' }] }),
  deleteChannel: ({ channelId }) => ({ path: { id: channelId } }),
  testChannel: ({ channelId }) => ({ path: { id: channelId } }),
  previewChannel: ({ channelId }) => ({ path: { id: channelId }, bodies: [{ template: null }] }),
  askChannelRecipients: ({ channelId }) => ({ path: { id: channelId } }),
  rotateChannelSecret: ({ channelId }) => ({ path: { id: channelId } }),
  listDeliveries: ({ channelId }) => ({ query: { channelId: `${channelId}` } }),
  getDelivery: ({ deliveryId }) => ({ path: { id: deliveryId } }),
  retryDelivery: ({ deliveryId }) => ({ path: { id: deliveryId } }),
  retryFailedDeliveries: () => ({ bodies: [{ since: '2026-01-01T00:00:00Z' }] }),
}

/** The same request with ids that do not exist. */
export function withUnknownIds(sample: SampleRequest): SampleRequest {
  const path = Object.keys(sample.path ?? {}).map((name) => [
    name,
    name === 'formKey' ? UNKNOWN_FORM_KEY : 999_999_999,
  ])
  return { ...sample, path: Object.fromEntries(path) }
}
export const UNKNOWN_FORM_KEY = 'zzzzzzzzzz'

export function getSampleRequest({ id }: Operation, things: TestResources): SampleRequest {
  const sample = SAMPLE_REQUESTS[id]
  if (!sample)
    throw new Error(
      `sample-requests.ts has no request for ${id}: add one, because tests are generated from it`,
    )
  return sample(things)
}

/** The path with its ids and its query, without the origin. */
export function toRequestUrl({ path }: Operation, sample: SampleRequest): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => String(sample.path?.[name]))
  const query = new URLSearchParams(sample.query).toString()
  return query === '' ? filled : `${filled}?${query}`
}

/** The JSON text of the first body; undefined when the operation takes no body. */
export const toFirstBody = ({ bodies }: SampleRequest) => (bodies ? toRawJson(bodies[0]) : undefined)

/** True when API keys may not call the operation. */
export const isSessionOnly = ({ security }: Operation) => !security?.some((way) => 'apiKey' in way)

/** The headers that may call the operation: the workspace's API key, or its owner's cookie when keys may not. */
export const toAuthHeaders = (operation: Operation, { id, key, owner }: Team): Record<string, string> =>
  isSessionOnly(operation)
    ? { 'Sec-Fetch-Site': 'same-origin', Cookie: owner.cookie, 'X-Workspace': String(id) }
    : { Authorization: `Bearer ${key}` }

/** @param mark is in every text of the created things, so that a test notices it in other answers */
export async function createTestResources(
  server: TestServer,
  workspace: Team,
  mark: string,
): Promise<TestResources> {
  const tagName = `${mark} tag`
  const externalId = `${mark}-external`
  const link = await workspace.createLink({
    slug: `${mark}-slug`,
    destinationUrl: `https://${mark}.example/`,
    title: `${mark} title`,
    externalId,
    tagNames: [tagName],
  })
  const other = await workspace.createLink({
    destinationUrl: `https://${mark}.example/other`,
    split: ['a', 'b'].map((label) => ({ url: `https://${mark}.example/${label}`, weight: 50, label })),
  })
  const trash = { destinationUrl: `https://${mark}.example/trash` }
  const [trashed, otherTrashed] = [await workspace.createLink(trash), await workspace.createLink(trash)]
  await workspace.api(`/links/bulk?ids=${trashed.id},${otherTrashed.id}`, { method: 'DELETE' })
  const domain = await workspace.api('/domains', {
    method: 'POST',
    body: { domain: `go.${mark}.example`, rootUrl: `https://${mark}.example/root` },
  })
  const allowed = await workspace.api('/allowed-senders', {
    method: 'POST',
    body: { address: `friend.${mark}@example.com` },
  })
  const form = await createTestFormWithSubmission(workspace, mark)
  const outcome = await workspace.api('/outcomes', {
    method: 'POST',
    body: { submissionId: form.submissionId, stage: 'qualified', externalId: `${mark} outcome` },
  })
  const view = await workspace.api('/views', { method: 'POST', body: { name: `${mark} view`, share: {} } })
  const template = await workspace.api('/utm-templates', {
    method: 'POST',
    body: { name: `${mark} template`, utmSource: mark },
  })
  const gone = { day: PROOF_DAY, kind: 'expired', hits: 0, removed: 2, digest: 'd' } as const
  await appendProofs(server.app.db, workspace.id, [{ ...gone, reason: `${mark} reason` }], 1)
  return {
    utmTemplateId: template.json.data.id,
    outcomeId: outcome.json.data.id,
    viewId: view.json.data.id,
    allowedSenderId: allowed.json.data.id,
    linkId: link.id,
    otherLinkId: other.id,
    trashedLinkId: trashed.id,
    otherTrashedLinkId: otherTrashed.id,
    slug: link.slug,
    externalId,
    importId: await createTestImport(server, workspace, mark),
    tagId: link.tags[0].id,
    tagName,
    domainId: domain.json.data.id,
    freeDomain: `free.${mark}.example`,
    ...form,
    ...(await createTestedChannel(workspace, mark)),
    ...(await createTestMembers(server, workspace, mark)),
  }
}

/** As a dry run leaves it: running one takes a process, and many tests need an import. */
function createTestImport({ app, now }: TestServer, { id }: TestWorkspace, mark: string): Promise<number> {
  const at = now()
  return app.db.write(async (connection) => {
    const row = await connection
      .insertInto('imports')
      .values({
        workspace_id: id,
        node: `${mark}-node`,
        source: 'csv',
        status: 'done',
        stage: 'clicks',
        dry_run: 1,
        on_conflict: 'skip',
        options: JSON.stringify({
          directory: `${mark}-none`,
          domainMap: {},
          mapping: {},
          dateOrder: null,
          timeZone: 'UTC',
          clicksDateOrder: null,
          clickRows: null,
        }),
        file_name: `${mark}.csv`,
        file_bytes: 100,
        rows: 1,
        failed: 1,
        actor: '{}',
        created_at: at,
        started_at: at,
        finished_at: at,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await connection
      .insertInto('import_rows')
      .values({
        import_id: row.id,
        workspace_id: id,
        row: 2,
        kind: 'link',
        outcome: 'failed',
        field: 'destinationUrl',
        value: `javascript:${mark}`,
        message: 'must be an http or https URL',
      })
      .execute()
    return row.id
  })
}

async function createTestMembers(
  server: TestServer,
  { id, owner, member }: Team,
  mark: string,
): Promise<Pick<TestResources, 'memberId' | 'invitationId' | 'token' | 'keyId' | 'workspaceName'>> {
  const post = async (path: string, body: object) =>
    (await owner.apiIn(id, path, { method: 'POST', body })).json.data
  const key = await post('/keys', { name: `${mark} key` })
  const invitation = await post('/invitations', { email: `${mark}-guest@people.example` })
  const elsewhere = await server.createWorkspace()
  const { app, origin } = server
  const operator = { kind: 'operator', workspaceId: elsewhere.id, plan: 'enterprise', keyId: null } as const
  const mailBudget = { hasRoom: throwUnused, msUntilReset: throwUnused }
  const needs = {
    db: app.db,
    now: server.now,
    origin,
    limiter: createRateLimiter(app.db),
    sendMail: undefined,
    mailBudget,
  }
  const { url } = await invite(needs, operator, { email: owner.email, role: 'member' })
  return {
    memberId: member.id,
    invitationId: invitation.id,
    token: new URL(url).searchParams.get('token') as string,
    keyId: key.id,
    workspaceName: 'Test',
  }
}

const throwUnused = () => {
  throw new Error('no mail is set up, so no mail is counted')
}

async function createTestFormWithSubmission(
  workspace: TestWorkspace,
  mark: string,
): Promise<Pick<TestResources, 'formKey' | 'submissionId' | 'fileId' | 'email'>> {
  const form = await workspace.api('/forms', { method: 'POST', body: { name: `${mark} form`, uploads: {} } })
  const { formKey, endpoint } = form.json.data
  const email = `${mark}@example.com`
  const body = new FormData()
  body.append('message', `${mark} message`)
  body.append('email', email)
  body.append('note', new File([`${mark} file`], 'note.txt'))
  const sent = await fetch(endpoint, {
    method: 'POST',
    // Nothing is looked for in the clicks of a sender who does not want it: the attribution is decided at once.
    headers: { Accept: 'application/json', 'Sec-GPC': '1' },
    body,
  })
  if (sent.status !== 200)
    throw new Error(`the form refused the submission: ${sent.status} ${await sent.text()}`)
  // Once the attribution is decided, no row changes by itself.
  const { id, files } = await newestSubmission(workspace, formKey)
  return { formKey, submissionId: id, fileId: files[0].id, email }
}

/** Creates a channel and tests it once. Afterwards, none of its rows changes by itself. */
async function createTestedChannel(
  workspace: TestWorkspace,
  mark: string,
): Promise<Pick<TestResources, 'channelId' | 'deliveryId'>> {
  const made = await workspace.api('/channels', {
    method: 'POST',
    body: { type: 'webhook', name: `${mark} channel`, url: `${HOOK}/${mark}` },
  })
  const channelId = made.json.data.id
  const tested = await workspace.api(`/channels/${channelId}/test`, { method: 'POST' })
  return { channelId, deliveryId: tested.json.data.id }
}
