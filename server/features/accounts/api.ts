// Workspaces, their people and their keys over REST. But for two questions, an API key may not ask any of this: who is
// in a workspace, and what opens it, is for people to see and to change.

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
import { type ApiEnv, createApi } from './access/guard.ts'
import { requirePerson } from './access/require-person.ts'
import { createWorkspaceKey, listWorkspaceKeys, revokeWorkspaceKey } from './access/workspace-keys.ts'
import * as shapes from './schema.ts'
import { acceptInvitation } from './workspaces/accept-invitation.ts'
import { changeMember } from './workspaces/change-member.ts'
import { deleteOwnedWorkspace, renameWorkspace } from './workspaces/change-workspace.ts'
import { createOwnedWorkspace } from './workspaces/create-owned-workspace.ts'
import { describeWorkspace } from './workspaces/describe-workspace.ts'
import { listInvitations } from './workspaces/invitations.ts'
import { type InviteNeeds, invite } from './workspaces/invite.ts'
import { listWorkspaceOfKey, listWorkspacesOfUser } from './workspaces/list-workspaces.ts'
import { listMembers } from './workspaces/members.ts'
import { removeMember } from './workspaces/remove-member.ts'
import { revokeInvitation } from './workspaces/revoke-invitation.ts'

export interface AccountsApiNeeds extends Omit<InviteNeeds, 'db'> {
  /** First segment of the snippet, `t.js` unless it was renamed. */
  snippetPath: string
  /** Of new workspaces. */
  defaultPlan: Plan
  /** Ends what this process still knows of a deleted workspace, its redirects first of all. */
  invalidateWorkspace(workspaceId: number): void
}

const MAIL_SECONDS = 45

const workspaces = { tags: ['Workspaces'] }
const forMembers = { by: 'member' as const }
const members = { tags: ['Members'], ...forMembers }
const keys = { tags: ['API keys'], ...forMembers }
/** What opens a workspace is in the answer, and is stored nowhere: not even sealed, for a repeated request. */
const opensWorkspace = { secretInAnswer: true, idempotent: false }
/** An Idempotency-Key belongs to a workspace, and this is about none. */
const aboutNoWorkspace = { by: 'person' as const, idempotent: false }
const numbered = { params: IdParameter }
const memberOf = { params: shapes.UserIdParameter }

const workspaceRoutes = {
  list: apiRoute({
    ...workspaces,
    method: 'get',
    path: '/workspaces',
    by: 'keyOrPerson',
    operationId: 'listWorkspaces',
    summary: 'List your workspaces',
    description: 'An API key sees the one it belongs to.',
    request: { query: shapes.PageQuery },
    responses: { 200: pageResponse(shapes.WorkspaceSummaryShape, 'A page of workspaces') },
  }),
  create: apiRoute({
    ...workspaces,
    ...aboutNoWorkspace,
    method: 'post',
    path: '/workspaces',
    operationId: 'createWorkspace',
    summary: 'Create a workspace, which you own',
    request: { body: jsonRequestBody(shapes.CreateWorkspace) },
    responses: { 201: dataResponse(shapes.WorkspaceShape, 'The new workspace') },
  }),
  get: apiRoute({
    ...workspaces,
    method: 'get',
    path: '/workspace',
    operationId: 'getWorkspace',
    summary: 'Get the workspace, its plan and what is in it',
    responses: { 200: dataResponse(shapes.WorkspaceShape, 'The workspace') },
  }),
  update: apiRoute({
    ...workspaces,
    method: 'patch',
    path: '/workspace',
    ...forMembers,
    operationId: 'updateWorkspace',
    summary: 'Rename the workspace',
    description: 'For owners.',
    request: { body: jsonRequestBody(shapes.UpdateWorkspace) },
    responses: { 200: dataResponse(shapes.WorkspaceShape, 'The changed workspace') },
  }),
  delete: apiRoute({
    ...workspaces,
    method: 'delete',
    path: '/workspace',
    ...forMembers,
    operationId: 'deleteWorkspace',
    summary: 'Delete the workspace and everything in it, for good',
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
    operationId: 'updateMember',
    summary: "Change a member's role",
    description: 'For owners. It binds with their next request. A workspace keeps at least one owner.',
    request: { ...memberOf, body: jsonRequestBody(shapes.UpdateMember) },
    responses: { 200: dataResponse(shapes.MemberShape, 'The changed member') },
    fails: [409],
  }),
  remove: apiRoute({
    ...members,
    method: 'delete',
    path: '/members/{userId}',
    operationId: 'removeMember',
    summary: 'Take somebody out of the workspace, or leave it',
    description: 'For owners; anybody may leave, but for the last owner. API keys they made go on.',
    request: memberOf,
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
    summary: 'List invitations that nobody has accepted yet, newest first',
    request: { query: shapes.PageQuery },
    responses: { 200: pageResponse(shapes.InvitationShape, 'A page of invitations') },
  }),
  create: apiRoute({
    ...members,
    ...opensWorkspace,
    method: 'post',
    path: '/invitations',
    operationId: 'createInvitation',
    summary: 'Invite somebody',
    description:
      'For owners. The link works once, for seven days, and for that address alone. It is mailed where the operator ' +
      'has set up mail. To invite an address again replaces its earlier invitation.',
    request: { body: jsonRequestBody(shapes.CreateInvitation) },
    responses: { 201: dataResponse(shapes.NewInvitationShape, 'The invitation with its link') },
    fails: [409],
  }),
  accept: apiRoute({
    ...members,
    ...aboutNoWorkspace,
    method: 'post',
    path: '/invitations/accept',
    operationId: 'acceptInvitation',
    summary: 'Join the workspace you were invited to',
    request: { body: jsonRequestBody(shapes.AcceptInvitation) },
    responses: { 200: dataResponse(shapes.WorkspaceShape, 'The workspace, which is now yours too') },
    fails: [404],
  }),
  delete: apiRoute({
    ...members,
    method: 'delete',
    path: '/invitations/{id}',
    operationId: 'deleteInvitation',
    summary: 'Take an invitation back',
    description: 'For owners.',
    request: numbered,
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
    ...opensWorkspace,
    method: 'post',
    path: '/keys',
    operationId: 'createApiKey',
    summary: 'Create an API key',
    description: 'For owners. It has full access to the workspace, and outlives whoever made it.',
    request: { body: jsonRequestBody(shapes.CreateKey) },
    responses: { 201: dataResponse(shapes.NewKeyShape, 'The key itself, for the only time') },
  }),
  revoke: apiRoute({
    ...keys,
    method: 'delete',
    path: '/keys/{id}',
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'For owners. Its very next request is refused.',
    request: numbered,
    responses: { 200: dataResponse(shapes.KeyShape, 'The key as it was') },
  }),
}

type Ctx = Context<ApiEnv>
type Within = (c: Ctx) => AccountsApiNeeds & { db: ApiEnv['Variables']['db'] }

export function createAccountsApi(needs: AccountsApiNeeds) {
  const within: Within = (c) => ({ ...needs, db: c.get('db') })
  return addKeys(addInvitations(addMembers(addWorkspaces(createApi(), within), within), within), within)
}

type Api = ReturnType<typeof createApi>

const addWorkspaces = (api: Api, within: Within) =>
  api
    .openapi(workspaceRoutes.list, async (c) => {
      const query = c.req.valid('query')
      const person = c.get('person')
      const list = person
        ? listWorkspacesOfUser(within(c), person.userId, query)
        : listWorkspaceOfKey(within(c), c.get('actor').workspaceId, query)
      return c.json(await list, 200)
    })
    .openapi(workspaceRoutes.create, async (c) =>
      c.json(
        { data: await createOwnedWorkspace(within(c), requirePerson(c).userId, c.req.valid('json')) },
        201,
      ),
    )
    .openapi(workspaceRoutes.get, async (c) => {
      const actor = c.get('actor')
      const role = actor.kind === 'user' ? actor.role : null
      const { workspaceId } = actor
      return c.json({ data: await describeWorkspace(within(c), { workspaceId, role }) }, 200)
    })
    .openapi(workspaceRoutes.update, async (c) =>
      c.json({ data: await renameWorkspace(within(c), c.get('actor'), c.req.valid('json')) }, 200),
    )
    .openapi(workspaceRoutes.delete, async (c) => {
      const { confirm } = c.req.valid('query')
      return c.json({ data: await deleteOwnedWorkspace(within(c), c.get('actor'), confirm) }, 200)
    })

const addMembers = (api: Api, within: Within) =>
  api
    .openapi(memberRoutes.list, async (c) =>
      c.json(await listMembers(within(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(memberRoutes.update, async (c) => {
      const userId = parseId(c.req.valid('param').userId)
      return c.json({ data: await changeMember(within(c), c.get('actor'), userId, c.req.valid('json')) }, 200)
    })
    .openapi(memberRoutes.remove, async (c) => {
      const userId = parseId(c.req.valid('param').userId)
      return c.json({ data: await removeMember(within(c), c.get('actor'), userId) }, 200)
    })

const addInvitations = (api: Api, within: Within) =>
  api
    .openapi(invitationRoutes.list, async (c) =>
      c.json(await listInvitations(within(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(invitationRoutes.create, async (c) => {
      // Mail servers greet slowly, and are waited for so long.
      c.env?.setIdleSeconds?.(MAIL_SECONDS)
      return c.json({ data: await invite(within(c), c.get('actor'), c.req.valid('json')) }, 201)
    })
    .openapi(invitationRoutes.accept, async (c) => {
      const { token } = c.req.valid('json')
      return c.json({ data: await acceptInvitation(within(c), requirePerson(c).userId, token) }, 200)
    })
    .openapi(invitationRoutes.delete, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await revokeInvitation(within(c), c.get('actor'), id) }, 200)
    })

const addKeys = (api: Api, within: Within) =>
  api
    .openapi(keyRoutes.list, async (c) =>
      c.json(await listWorkspaceKeys(within(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(keyRoutes.create, async (c) =>
      c.json({ data: await createWorkspaceKey(within(c), c.get('actor'), c.req.valid('json')) }, 201),
    )
    .openapi(keyRoutes.revoke, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await revokeWorkspaceKey(within(c), c.get('actor'), id) }, 200)
    })
