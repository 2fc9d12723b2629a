// The REST API of workspaces, members, invitations and API keys (docs/contract.md §9). An API key may only read its
// workspace: everything else here is for signed-in people.

import type { Context } from 'hono'
import {
  apiRoute,
  dataResponse,
  IdParameter,
  jsonRequestBody,
  pageResponse,
  parseId,
} from '../../http/api-route.ts'
import type { Plan } from '../../lib/plan.ts'
import { toRole } from './access/actor.ts'
import { type ApiEnv, createApi } from './access/api-env.ts'
import { requireFreshCaller } from './access/fresh-session.ts'
import { requirePerson } from './access/require-person.ts'
import { createWorkspaceKey, listWorkspaceKeys, revokeWorkspaceKey } from './access/workspace-keys.ts'
import * as shapes from './schema.ts'
import { acceptInvitation } from './workspaces/accept-invitation.ts'
import { changeMember } from './workspaces/change-member.ts'
import { createOwnedWorkspace } from './workspaces/create-owned-workspace.ts'
import { deleteOwnedWorkspace } from './workspaces/delete-owned-workspace.ts'
import { describeWorkspace } from './workspaces/describe-workspace.ts'
import { listInvitations } from './workspaces/invitations.ts'
import { type InviteNeeds, invite } from './workspaces/invite.ts'
import { listWorkspaceOfKey, listWorkspacesOfUser } from './workspaces/list-workspaces.ts'
import { listMembers } from './workspaces/members.ts'
import { removeMember } from './workspaces/remove-member.ts'
import { revokeInvitation } from './workspaces/revoke-invitation.ts'
import { updateWorkspace } from './workspaces/update-workspace.ts'

export interface AccountsApiNeeds extends Omit<InviteNeeds, 'db'> {
  /** First path segment of the snippet: `t.js`, or the operator's `SNIPPET_PATH`. */
  snippetPath: string
  /** The plan of new workspaces. */
  defaultPlan: Plan
}

/** Time limit of a request that waits for the mail server. */
const MAIL_SECONDS = 45

const workspaces = { tags: ['Workspaces'] }
const forMembers = { by: 'member' as const }
const members = { tags: ['Members'], ...forMembers }
const keys = { tags: ['API keys'], ...forMembers }
/** The answer contains a secret that gives access to the workspace. It is stored nowhere, not even encrypted. */
const showsSecret = { secretInAnswer: true, idempotent: false }
/** Routes without a workspace. An Idempotency-Key belongs to a workspace, so they take none. */
const withoutWorkspace = { by: 'person' as const, idempotent: false }
const idParameter = { params: IdParameter }
const userIdParameter = { params: shapes.UserIdParameter }

const workspaceRoutes = {
  list: apiRoute({
    ...workspaces,
    method: 'get',
    path: '/workspaces',
    by: 'keyOrPerson',
    scope: 'any',
    operationId: 'listWorkspaces',
    summary: 'List your workspaces',
    description: 'An API key sees only its own workspace.',
    request: { query: shapes.PageQuery },
    responses: { 200: pageResponse(shapes.ListedWorkspaceShape, 'A page of workspaces') },
  }),
  create: apiRoute({
    ...workspaces,
    ...withoutWorkspace,
    method: 'post',
    path: '/workspaces',
    operationId: 'createWorkspace',
    summary: 'Create a workspace that you own',
    request: { body: jsonRequestBody(shapes.CreateWorkspace, { name: 'Boats' }) },
    responses: { 201: dataResponse(shapes.WorkspaceShape, 'The new workspace') },
    fails: [409],
  }),
  get: apiRoute({
    ...workspaces,
    method: 'get',
    path: '/workspace',
    scope: 'any',
    operationId: 'getWorkspace',
    summary: 'Get the workspace with its plan and counts',
    responses: { 200: dataResponse(shapes.WorkspaceShape, 'The workspace') },
  }),
  update: apiRoute({
    ...workspaces,
    method: 'patch',
    path: '/workspace',
    ...forMembers,
    operationId: 'updateWorkspace',
    summary: 'Rename the workspace, or change its settings',
    description:
      'For owners. `requireTwoFactor` requires that you have a second factor and have signed in within the last 15 minutes. ' +
      '`missingReportAbove` is a number of requests from 10 on; null sends no mail. `watchDestinations` checks the ' +
      'destinations of links daily and emails you about those that stay broken.',
    request: { body: jsonRequestBody(shapes.UpdateWorkspace, { name: 'Boats and more' }) },
    responses: { 200: dataResponse(shapes.WorkspaceShape, 'The changed workspace') },
  }),
  delete: apiRoute({
    ...workspaces,
    method: 'delete',
    path: '/workspace',
    ...forMembers,
    fresh: true,
    operationId: 'deleteWorkspace',
    summary: 'Delete the workspace and everything in it permanently',
    description:
      'For owners. Links stop redirecting at once; clicks are removed from the analytics soon after.',
    request: { query: shapes.DeleteWorkspaceQuery },
    responses: { 200: dataResponse(shapes.WorkspaceShape, 'The workspace as it was') },
  }),
}

const memberRoutes = {
  list: apiRoute({
    ...members,
    method: 'get',
    path: '/members',
    operationId: 'listMembers',
    summary: 'List the people of the workspace',
    request: { query: shapes.PageQuery },
    responses: { 200: pageResponse(shapes.MemberShape, 'A page of members') },
  }),
  update: apiRoute({
    ...members,
    method: 'patch',
    path: '/members/{userId}',
    fresh: true,
    operationId: 'updateMember',
    summary: "Change a member's role",
    description:
      "For owners. The role applies from the member's next request. A workspace keeps at least one owner.",
    request: { ...userIdParameter, body: jsonRequestBody(shapes.UpdateMember, { role: 'owner' }) },
    responses: { 200: dataResponse(shapes.MemberShape, 'The changed member') },
    fails: [409],
  }),
  remove: apiRoute({
    ...members,
    method: 'delete',
    path: '/members/{userId}',
    fresh: true,
    operationId: 'removeMember',
    summary: 'Remove a member, or leave the workspace',
    description:
      'For owners. Every member may leave, except the last owner. API keys that the member created stay valid.',
    request: userIdParameter,
    responses: { 200: dataResponse(shapes.MemberShape, 'The member as they were') },
    fails: [409],
  }),
}

const invitationRoutes = {
  list: apiRoute({
    ...members,
    method: 'get',
    path: '/invitations',
    operationId: 'listInvitations',
    summary: 'List pending invitations, newest first',
    request: { query: shapes.PageQuery },
    responses: { 200: pageResponse(shapes.InvitationShape, 'A page of invitations') },
  }),
  create: apiRoute({
    ...members,
    ...showsSecret,
    method: 'post',
    path: '/invitations',
    fresh: true,
    operationId: 'createInvitation',
    summary: 'Invite a person',
    description:
      'For owners. The link works once, for seven days, and only for that address. The server mails it when the ' +
      'operator has set up mail. A new invitation of an address replaces the earlier one.',
    request: { body: jsonRequestBody(shapes.CreateInvitation, { email: 'ann@example.com', role: 'member' }) },
    responses: { 201: dataResponse(shapes.NewInvitationShape, 'The invitation with its link') },
    fails: [409],
  }),
  accept: apiRoute({
    ...members,
    ...withoutWorkspace,
    method: 'post',
    path: '/invitations/accept',
    operationId: 'acceptInvitation',
    summary: 'Join the workspace you were invited to',
    request: { body: jsonRequestBody(shapes.AcceptInvitation, { token: 'the-token-of-the-invitation' }) },
    responses: { 200: dataResponse(shapes.WorkspaceShape, 'The workspace that you have joined') },
    fails: [404, 409],
  }),
  delete: apiRoute({
    ...members,
    method: 'delete',
    path: '/invitations/{id}',
    operationId: 'deleteInvitation',
    summary: 'Revoke an invitation',
    description: 'For owners.',
    request: idParameter,
    responses: { 200: dataResponse(shapes.InvitationShape, 'The invitation as it was') },
  }),
}

const keyRoutes = {
  list: apiRoute({
    ...keys,
    method: 'get',
    path: '/keys',
    operationId: 'listApiKeys',
    summary: 'List the API keys of the workspace, newest first',
    request: { query: shapes.PageQuery },
    responses: { 200: pageResponse(shapes.KeyShape, 'A page of keys') },
  }),
  create: apiRoute({
    ...keys,
    ...showsSecret,
    method: 'post',
    path: '/keys',
    fresh: true,
    operationId: 'createApiKey',
    summary: 'Create an API key',
    description:
      'For owners. Without `scopes` the key has full access to the workspace. It stays valid when its creator leaves.',
    request: {
      body: jsonRequestBody(shapes.CreateKey, {
        name: 'Report',
        scopes: ['links:read', 'analytics:read'],
        expiresAt: '2030-01-01T00:00:00Z',
      }),
    },
    responses: { 201: dataResponse(shapes.NewKeyShape, 'The key itself, which is shown only now') },
    fails: [409],
  }),
  revoke: apiRoute({
    ...keys,
    method: 'delete',
    path: '/keys/{id}',
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'For owners. The next request with the key is refused.',
    request: idParameter,
    responses: { 200: dataResponse(shapes.KeyShape, 'The key as it was') },
  }),
}

type Ctx = Context<ApiEnv>
type GetNeeds = (c: Ctx) => AccountsApiNeeds & { db: ApiEnv['Variables']['db'] }

export function createAccountsApi(needs: AccountsApiNeeds) {
  const getNeeds: GetNeeds = (c) => ({ ...needs, db: c.get('db') })
  return addKeys(
    addInvitations(addMembers(addWorkspaces(createApi(), getNeeds), getNeeds), getNeeds),
    getNeeds,
  )
}

type Api = ReturnType<typeof createApi>

const addWorkspaces = (api: Api, getNeeds: GetNeeds) =>
  api
    .openapi(workspaceRoutes.list, async (c) => {
      const query = c.req.valid('query')
      const person = c.get('person')
      const list = person
        ? listWorkspacesOfUser(getNeeds(c), person.userId, query)
        : listWorkspaceOfKey(getNeeds(c), c.get('actor').workspaceId, query)
      return c.json(await list, 200)
    })
    .openapi(workspaceRoutes.create, async (c) =>
      c.json(
        { data: await createOwnedWorkspace(getNeeds(c), requirePerson(c).userId, c.req.valid('json')) },
        201,
      ),
    )
    .openapi(workspaceRoutes.get, async (c) => {
      const actor = c.get('actor')
      const keyScopes = actor.kind === 'key' ? (actor.scopes ?? ['*' as const]) : undefined
      const viewer = { workspaceId: actor.workspaceId, role: toRole(actor), keyScopes }
      return c.json({ data: await describeWorkspace(getNeeds(c), viewer) }, 200)
    })
    .openapi(workspaceRoutes.update, async (c) => {
      const input = c.req.valid('json')
      if (input.requireTwoFactor !== undefined) requireFreshCaller(c, getNeeds(c).now())
      return c.json({ data: await updateWorkspace(getNeeds(c), c.get('actor'), input) }, 200)
    })
    .openapi(workspaceRoutes.delete, async (c) => {
      const { confirm } = c.req.valid('query')
      return c.json({ data: await deleteOwnedWorkspace(getNeeds(c), c.get('actor'), confirm) }, 200)
    })

const addMembers = (api: Api, getNeeds: GetNeeds) =>
  api
    .openapi(memberRoutes.list, async (c) =>
      c.json(await listMembers(getNeeds(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(memberRoutes.update, async (c) => {
      const userId = parseId(c.req.valid('param').userId)
      return c.json(
        { data: await changeMember(getNeeds(c), c.get('actor'), userId, c.req.valid('json')) },
        200,
      )
    })
    .openapi(memberRoutes.remove, async (c) => {
      const userId = parseId(c.req.valid('param').userId)
      return c.json({ data: await removeMember(getNeeds(c), c.get('actor'), userId) }, 200)
    })

const addInvitations = (api: Api, getNeeds: GetNeeds) =>
  api
    .openapi(invitationRoutes.list, async (c) =>
      c.json(await listInvitations(getNeeds(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(invitationRoutes.create, async (c) => {
      // Some mail servers delay their greeting on purpose.
      c.env?.setIdleSeconds?.(MAIL_SECONDS)
      return c.json({ data: await invite(getNeeds(c), c.get('actor'), c.req.valid('json')) }, 201)
    })
    .openapi(invitationRoutes.accept, async (c) => {
      const { token } = c.req.valid('json')
      return c.json({ data: await acceptInvitation(getNeeds(c), requirePerson(c).userId, token) }, 200)
    })
    .openapi(invitationRoutes.delete, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await revokeInvitation(getNeeds(c), c.get('actor'), id) }, 200)
    })

const addKeys = (api: Api, getNeeds: GetNeeds) =>
  api
    .openapi(keyRoutes.list, async (c) =>
      c.json(await listWorkspaceKeys(getNeeds(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(keyRoutes.create, async (c) =>
      c.json({ data: await createWorkspaceKey(getNeeds(c), c.get('actor'), c.req.valid('json')) }, 201),
    )
    .openapi(keyRoutes.revoke, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await revokeWorkspaceKey(getNeeds(c), c.get('actor'), id) }, 200)
    })
