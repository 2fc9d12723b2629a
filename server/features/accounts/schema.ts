// Workspaces, members, invitations and API keys as JSON: the API validates requests with these schemas, and its
// reference is generated from them.

import { z } from '@hono/zod-openapi'
import { KEY_SCOPES } from '../../http/key-scope.ts'
import {
  dateRangeEnd,
  flag,
  instant,
  oneOf,
  PAGE_PARAMETERS,
  parameter,
  text,
  wholeNumber,
} from '../../lib/api-fields.ts'
import { EMAIL_MAX, isEmail } from '../../lib/email.ts'
import { parseNetwork } from '../../lib/ip-network.ts'
import { PLANS } from '../../lib/plan.ts'
import { ROLES } from '../../lib/role.ts'
import { toAsciiHost } from '../../lib/web-url.ts'
import { KEPT_PARAM_NAME, KEPT_PARAMS_MAX } from '../../storage/hits/kept-params.ts'
import { AUDIT_ACTIONS } from './audit/actions.ts'
import { BrandInput, BrandShape } from './brand/schema.ts'

export const NAME_MAX = 100
const HOST_MAX = 253
const name = text(1, NAME_MAX)
  .trim()
  .refine((value) => value !== '', 'must not be blank')

/** Lower case, so that two spellings of an address cannot make two accounts. */
export const EmailAddress = text(1, EMAIL_MAX)
  .trim()
  .toLowerCase()
  .refine(isEmail, 'must be an email address')

const role = oneOf(ROLES)
const SCOPES = ['*', ...KEY_SCOPES] as const

export const PageQuery = z.strictObject(PAGE_PARAMETERS)
export type PageQueryInput = z.infer<typeof PageQuery>

const ownRole = z.enum(ROLES).nullable().openapi({ description: 'Your role; null for an API key' })

export const WorkspaceSummaryShape = z
  .strictObject({
    id: z.int(),
    publicId: z.string().openapi({ description: 'Identifies the workspace in the snippet' }),
    name: z.string(),
    plan: z.enum(PLANS),
    role: ownRole,
    operatesServer: z.boolean().openapi({
      description: 'You own the first workspace of this installation, so you can see the state of its server',
    }),
    requireTwoFactor: z.boolean().openapi({ description: 'Members without a second factor have no access' }),
    keptParams: z.array(z.string()).openapi({
      description:
        'Query parameters of short URLs that clicks keep, for filters and groups as `param.<name>`',
      example: ['ref'],
    }),
    createdAt: z.iso.datetime(),
  })
  .openapi('WorkspaceSummary')
export type WorkspaceSummary = z.infer<typeof WorkspaceSummaryShape>

/** A workspace in a person's list: the dashboard draws its sidebar from it. */
export const ListedWorkspaceShape = z
  .strictObject({
    ...WorkspaceSummaryShape.shape,
    pinnedTags: z
      .array(z.strictObject({ id: z.int(), name: z.string(), color: z.string() }))
      .nullable()
      .openapi({ description: 'The tags in the sidebar, by name; null for an API key' }),
  })
  .openapi('ListedWorkspace')
export type ListedWorkspace = z.infer<typeof ListedWorkspaceShape>

export const WorkspaceShape = z
  .strictObject({
    ...WorkspaceSummaryShape.shape,
    missingReportAbove: z.int().nullable().openapi({
      description:
        'Owners get an email when an unknown slug is requested more often than this in 24 hours; null is never',
    }),
    watchDestinations: z.boolean().openapi({
      description:
        'The destinations of links are checked daily, and owners get an email when one stays broken',
    }),
    internalNetworks: z.array(z.string()).openapi({
      description: 'Hits from these networks have the class `internal`',
      example: ['203.0.113.0/24'],
    }),
    ignoredReferrers: z.array(z.string()).openapi({
      description: 'Hits with these hosts or their subdomains as referrers have the class `spam`',
      example: ['spam.example'],
    }),
    brand: BrandShape.openapi({
      description: 'The look of public pages and emails; null values are not set',
    }),
    requestsPerMinute: z.int().openapi({ description: 'Limit of the plan for API keys; 0 is no access' }),
    requestsLastMinute: z.int().openapi({ description: 'Requests of API keys in the last 60 seconds' }),
    members: z.int(),
    links: z.int(),
    forms: z.int(),
    submissions: z.int(),
    keys: z.int().openapi({ description: 'API keys that are not revoked' }),
    snippet: z.string().openapi({ description: 'The HTML for the head of your pages' }),
    keyScopes: z
      .array(z.enum(SCOPES))
      .nullable()
      .openapi({ description: 'The scopes of the API key that asks; null for a person' }),
  })
  .openapi('Workspace')
export type WorkspaceResource = z.infer<typeof WorkspaceShape>

export const CreateWorkspace = z.strictObject({ name }).openapi('CreateWorkspace')
export type CreateWorkspaceInput = z.infer<typeof CreateWorkspace>
/** Below this number, nearly all requests are guesses by bots that pose as browsers. */
export const MISSING_REPORT_MIN = 10

const keptParams = z
  .array(
    z
      .string({ error: 'must be the name of a query parameter' })
      .regex(KEPT_PARAM_NAME, 'must be 1 to 40 letters, digits, "_", "." or "-"')
      .refine((name) => name !== 'tp_cid', 'is the id of a click, which differs from click to click')
      .openapi({ example: 'ref' }),
    { error: 'must be a list of names' },
  )
  .max(KEPT_PARAMS_MAX, `must be at most ${KEPT_PARAMS_MAX} names`)
  .refine((names) => new Set(names).size === names.length, 'must not have a name twice')
  .openapi({
    description:
      'Later clicks keep these query parameters of the short URL: 128 characters of a value, and 10,000 values a day and ' +
      'name. Values beyond that are stored as `(other)`',
  })

const NETWORK_TEXT_MAX = 50
const NETWORKS_MAX = 50
const internalNetworks = z
  .array(
    text(1, NETWORK_TEXT_MAX)
      .trim()
      .toLowerCase()
      .refine(
        (network) => parseNetwork(network) !== undefined,
        'must be an address or a range such as 203.0.113.0/24',
      )
      .refine((network) => parseNetwork(network)?.[1] !== 0, 'must not be all addresses')
      .openapi({ example: '203.0.113.0/24' }),
    { error: 'must be a list of networks' },
  )
  .max(NETWORKS_MAX, `must be at most ${NETWORKS_MAX} networks`)
  .transform((networks) => [...new Set(networks)])

const REFERRERS_MAX = 100
const ignoredReferrers = z
  .array(
    text(1, HOST_MAX)
      .transform((written, context) => {
        const host = toAsciiHost(
          written
            .trim()
            .replace(/^www\.(?=[^.]+\.)/i, '')
            .replace(/\.$/, ''),
        ).toLowerCase()
        if (/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/.test(host)) return host
        context.addIssue({ code: 'custom', message: 'must be a host such as spam.example' })
        return z.NEVER
      })
      .openapi({ type: 'string', minLength: 1, maxLength: HOST_MAX, example: 'spam.example' }),
    { error: 'must be a list of hosts' },
  )
  .max(REFERRERS_MAX, `must be at most ${REFERRERS_MAX} hosts`)
  .transform((hosts) => [...new Set(hosts)])

export const AnalyticsSettingsInput = z.strictObject({
  keptParams,
  internalNetworks,
  ignoredReferrers,
  watchDestinations: flag(),
})
export const UpdateWorkspace = z
  .strictObject({
    name: name.optional(),
    requireTwoFactor: flag().nullable().optional(),
    missingReportAbove: wholeNumber(MISSING_REPORT_MIN, 1_000_000).nullable().optional(),
    keptParams: keptParams.nullable().optional(),
    watchDestinations: flag().nullable().optional(),
    internalNetworks: internalNetworks.nullable().optional(),
    ignoredReferrers: ignoredReferrers.nullable().optional(),
    brand: BrandInput.nullable().optional(),
  })
  .openapi('UpdateWorkspace')
export type UpdateWorkspaceInput = z.infer<typeof UpdateWorkspace>
export const DeleteWorkspaceQuery = z.strictObject({
  confirm: z
    .string({
      error: ({ input }) =>
        input === undefined ? 'must be the name of the workspace' : 'must be given once',
    })
    .openapi({ maxLength: NAME_MAX, description: 'The name of the workspace, as a confirmation' }),
})

export const MemberShape = z
  .strictObject({
    userId: z.int(),
    name: z.string(),
    email: z.string(),
    role: z.enum(ROLES),
    createdAt: z.iso.datetime().openapi({ description: 'When the member joined' }),
  })
  .openapi('Member')
export type MemberResource = z.infer<typeof MemberShape>

/** A string in the schema: the route answers 404, not 422, to text that is not an id. */
export const UserIdParameter = z.object({
  userId: z.string().openapi({ param: { name: 'userId', in: 'path' }, type: 'integer', example: 1 }),
})

export const UpdateMember = z.strictObject({ role: role.optional() }).openapi('UpdateMember')
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
    .openapi({ description: 'null when their account was deleted' }),
}
export const InvitationShape = z.strictObject(invitation).openapi('Invitation')
export type InvitationResource = z.infer<typeof InvitationShape>

export const NewInvitationShape = z
  .strictObject({
    ...invitation,
    url: z.string().openapi({ description: 'The link for the invited person; shown only now' }),
    mailed: z.boolean().openapi({ description: 'false: no email was sent, so pass on the link yourself' }),
  })
  .openapi('NewInvitation')
export type NewInvitationResource = z.infer<typeof NewInvitationShape>

export const CreateInvitation = z
  .strictObject({ email: EmailAddress, role: role.default('member') })
  .openapi('CreateInvitation')
export type CreateInvitationInput = z.infer<typeof CreateInvitation>

export const AcceptInvitation = z
  .strictObject({ token: text(1, 100).openapi({ description: 'The token in the link' }) })
  .openapi('AcceptInvitation')

const key = {
  id: z.int(),
  name: z.string(),
  lastFour: z.string(),
  scopes: z.array(z.enum(SCOPES)).openapi({ description: 'The scopes of the key; `*` is full access' }),
  expiresAt: z.iso
    .datetime()
    .nullable()
    .openapi({ description: 'The key is refused after this time; null: never' }),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable().openapi({ description: 'Precise to the minute' }),
}
export const KeyShape = z.strictObject(key).openapi('ApiKey')
export type KeyResource = z.infer<typeof KeyShape>
export const NewKeyShape = z
  .strictObject({ ...key, key: z.string().openapi({ description: 'The key itself; shown only now' }) })
  .openapi('NewApiKey')
export type NewKeyResource = z.infer<typeof NewKeyShape>
export const CreateKey = z
  .strictObject({
    name,
    scopes: z
      .array(oneOf(SCOPES), { error: 'must be a list of scopes' })
      .min(1, 'must name at least one scope')
      .max(SCOPES.length, `must be at most ${SCOPES.length} scopes`)
      .default(['*'])
      .openapi({ description: 'The scopes of the key. The default is `*`, full access' }),
    expiresAt: instant().nullable().optional().openapi({ description: 'In the future; never when absent' }),
  })
  .openapi('CreateApiKey')
export type CreateKeyInput = z.infer<typeof CreateKey>

const ACTOR_TYPES = ['person', 'key', 'operator', 'system', 'unknown'] as const
const ACTOR_MAX = 320

const auditFilters = {
  action: oneOf(AUDIT_ACTIONS).optional(),
  actor: parameter(ACTOR_MAX).optional().openapi({
    description: 'The email address of a person, the name of a key, or a type of actor such as `operator`',
  }),
  start: dateRangeEnd('start', 'An instant, or a date (its first moment, UTC)'),
  end: dateRangeEnd('end', 'An instant (exclusive), or a date (the whole day counts, UTC)'),
}

function requireOrder({ start, end }: { start?: number; end?: number }, context: z.RefinementCtx) {
  if (start === undefined || end === undefined || start < end) return
  context.addIssue({ code: 'custom', path: ['start'], message: 'must be before end' })
}

export const AuditListQuery = z
  .strictObject({
    ...PageQuery.shape,
    ...auditFilters,
  })
  .superRefine(requireOrder)
export type AuditListInput = z.infer<typeof AuditListQuery>

export const AuditExportQuery = z
  .strictObject({ format: oneOf(['csv', 'ndjson']).optional(), ...auditFilters })
  .superRefine(requireOrder)
export type AuditSelection = Omit<z.infer<typeof AuditExportQuery>, 'format'>

export const AuditEventShape = z
  .strictObject({
    id: z.int(),
    at: z.iso.datetime(),
    actor: z
      .strictObject({
        type: z.enum(ACTOR_TYPES),
        id: z.int().nullable(),
        name: z
          .string()
          .nullable()
          .openapi({ description: 'The email address of the person, or the name of the key, at that time' }),
      })
      .openapi({
        description: '`operator` is the command line; `unknown` is a person without proof of identity',
      }),
    action: z.enum(AUDIT_ACTIONS),
    target: z
      .strictObject({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() })
      .nullable(),
    ip: z.null().openapi({ description: 'Always null: addresses are not stored' }),
    detail: z.record(z.string(), z.unknown()),
  })
  .openapi('AuditEvent')
export type AuditEventResource = z.infer<typeof AuditEventShape>
