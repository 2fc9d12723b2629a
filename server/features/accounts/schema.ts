// Workspaces, their people and their keys on the wire: the API validates with these shapes and its reference is
// generated from them.

import { z } from '@hono/zod-openapi'
import { numberParameter, oneOf, parameter, text } from '../../lib/api-fields.ts'
import { EMAIL_MAX, isEmail } from '../../lib/email.ts'
import { PLANS } from '../../lib/plan.ts'
import { ROLES } from './access/actor.ts'

export const NAME_MAX = 100
const name = text(1, NAME_MAX)
  .trim()
  .refine((value) => value !== '', 'must not be blank')

/** In lower case, since a person has one. */
export const EmailAddress = text(1, EMAIL_MAX)
  .trim()
  .toLowerCase()
  .refine(isEmail, 'must be an e-mail address')

const role = oneOf(ROLES)

const mustBeObject = {
  error: ({ code }: { code?: string }) => (code === 'invalid_type' ? 'must be an object' : undefined),
}

export const PageQuery = z.strictObject({
  limit: numberParameter(1, 100).optional(),
  cursor: parameter(1000).optional(),
})
export type PageQueryInput = z.infer<typeof PageQuery>

const ownRole = z.enum(ROLES).nullable().openapi({ description: 'Yours; null for an API key' })

export const WorkspaceSummaryShape = z
  .strictObject({
    id: z.int(),
    publicId: z.string().openapi({ description: 'What the snippet names the workspace by' }),
    name: z.string(),
    plan: z.enum(PLANS),
    role: ownRole,
    createdAt: z.iso.datetime(),
  })
  .openapi('WorkspaceSummary')
export type WorkspaceSummary = z.infer<typeof WorkspaceSummaryShape>

export const WorkspaceShape = z
  .strictObject({
    ...WorkspaceSummaryShape.shape,
    requestsPerMinute: z.int().openapi({ description: 'What the plan allows to API keys; 0 is no access' }),
    requestsLastMinute: z.int().openapi({ description: 'How many of them API keys have made' }),
    members: z.int(),
    links: z.int(),
    forms: z.int(),
    submissions: z.int(),
    keys: z.int().openapi({ description: 'That have not been revoked' }),
    snippet: z.string().openapi({ description: 'The line for the head of your pages' }),
  })
  .openapi('Workspace')
export type WorkspaceResource = z.infer<typeof WorkspaceShape>

export const CreateWorkspace = z.strictObject({ name }, mustBeObject).openapi('CreateWorkspace')
export type CreateWorkspaceInput = z.infer<typeof CreateWorkspace>
export const UpdateWorkspace = z
  .strictObject({ name: name.optional() }, mustBeObject)
  .openapi('UpdateWorkspace')
export type UpdateWorkspaceInput = z.infer<typeof UpdateWorkspace>
export const DeleteWorkspaceQuery = z.strictObject({
  confirm: z
    .string({
      error: ({ input }) =>
        input === undefined ? 'must be the name of the workspace' : 'must be given once',
    })
    .openapi({ maxLength: NAME_MAX, description: 'The name of the workspace, as a sign that it is meant' }),
})

export const MemberShape = z
  .strictObject({
    userId: z.int(),
    name: z.string(),
    email: z.string(),
    role: z.enum(ROLES),
    createdAt: z.iso.datetime().openapi({ description: 'When they joined' }),
  })
  .openapi('Member')
export type MemberResource = z.infer<typeof MemberShape>

/** Text that is no id is simply not found. */
export const UserIdParameter = z.object({
  userId: z.string().openapi({ param: { name: 'userId', in: 'path' }, type: 'integer', example: 1 }),
})

export const UpdateMember = z.strictObject({ role: role.optional() }, mustBeObject).openapi('UpdateMember')
export type UpdateMemberInput = z.infer<typeof UpdateMember>

const invitation = {
  id: z.int(),
  email: z.string(),
  role: z.enum(ROLES),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  invitedBy: z
    .strictObject({ userId: z.int(), name: z.string() })
    .nullable()
    .openapi({ description: 'null when they have left Towpath since' }),
}
export const InvitationShape = z.strictObject(invitation).openapi('Invitation')
export type InvitationResource = z.infer<typeof InvitationShape>

export const NewInvitationShape = z
  .strictObject({
    ...invitation,
    url: z.string().openapi({ description: 'What the invited person opens; shown only now' }),
    mailed: z
      .boolean()
      .openapi({ description: 'false: no mail could be sent, so hand the link on yourself' }),
  })
  .openapi('NewInvitation')
export type NewInvitationResource = z.infer<typeof NewInvitationShape>

export const CreateInvitation = z
  .strictObject({ email: EmailAddress, role: role.default('member') }, mustBeObject)
  .openapi('CreateInvitation')
export type CreateInvitationInput = z.infer<typeof CreateInvitation>

export const AcceptInvitation = z
  .strictObject({ token: text(1, 100).openapi({ description: 'From the link' }) }, mustBeObject)
  .openapi('AcceptInvitation')

const key = {
  id: z.int(),
  name: z.string(),
  lastFour: z.string(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable().openapi({ description: 'To the minute' }),
}
export const KeyShape = z.strictObject(key).openapi('ApiKey')
export type KeyResource = z.infer<typeof KeyShape>
export const NewKeyShape = z
  .strictObject({ ...key, key: z.string().openapi({ description: 'The key itself; shown only now' }) })
  .openapi('NewApiKey')
export type NewKeyResource = z.infer<typeof NewKeyShape>
export const CreateKey = z.strictObject({ name }, mustBeObject).openapi('CreateApiKey')
export type CreateKeyInput = z.infer<typeof CreateKey>
