// GET /v1/links/{id}/resolve: the rule of a link that would answer a visitor, and where it would lead. Nothing is
// counted (docs/contract.md §2).

import { z } from '@hono/zod-openapi'
import { apiRoute, dataResponse, IdParameter, parseId } from '../../http/api-route.ts'
import { instant, oneOf, parameter } from '../../lib/api-fields.ts'
import { readCountryCode } from '../../lib/country-code.ts'
import type { TargetDevice } from '../../lib/user-agent.ts'
import { createApi } from '../accounts/access/api-env.ts'
import type { DestinationJudge } from '../links/blocklist/judge-destination.ts'
import { toCachedLink } from '../links/cache.ts'
import { getLink } from '../links/get.ts'
import type { Site } from '../links/link.ts'
import type { DomainDirectory } from '../links/names/domain-directory.ts'
import { RULE_SYSTEMS, type RuleDevice } from '../links/redirect-rules/schema.ts'
import { answersOn } from '../links/resolve.ts'
import { chooseDestination } from './destination.ts'
import { toDomainTarget } from './domain-target.ts'
import { readPreferredLanguage } from './rule-visitor.ts'

const ResolveQuery = z.strictObject({
  country: z
    .string({ error: 'must be given once' })
    .regex(/^[A-Za-z]{2}$/, 'must be a two-letter country code')
    .refine((code) => readCountryCode(code) !== null, 'must be a country of ISO 3166-1, or XK')
    .optional(),
  device: oneOf(['ios', 'android', 'desktop', 'mobile', 'tablet'])
    .optional()
    .openapi({ description: 'ios and android name the system of a phone too' }),
  os: oneOf(RULE_SYSTEMS).optional(),
  language: parameter(1000).optional().openapi({
    description: 'A language such as "de", or a whole Accept-Language header',
    example: 'de-CH,de;q=0.9,en;q=0.8',
  }),
  query: parameter(2000)
    .optional()
    .openapi({ description: 'Query of the short URL', example: 'ref=partner' }),
  at: instant().optional().openapi({ description: 'Now, when absent' }),
})

/** The settings of a link that decide, besides its rules. */
const SETTINGS = [
  'destination',
  'device',
  'geo',
  'split',
  'password',
  'expiredUrl',
  'expired',
  'clickLimit',
  'leadLimit',
  'archived',
  'notStarted',
  'unsafe',
  'suspended',
  'blocked',
  'unknown',
] as const

const Resolution = z
  .strictObject({
    rule: z.union([z.enum(SETTINGS), z.string().regex(/^rules\.\d+$/)]).openapi({
      description: 'The setting that decides. `rules.0` is the first of `rules`',
    }),
    status: z.int().openapi({ description: 'Status of the answer' }),
    destinationUrl: z.string().nullable().openapi({ description: 'null where a page answers' }),
  })
  .openapi('Resolution')

const route = apiRoute({
  tags: ['Links'],
  method: 'get',
  path: '/links/{id}/resolve',
  scope: 'links:read',
  operationId: 'resolveLink',
  summary: 'Which rule would answer, and where to',
  request: { params: IdParameter, query: ResolveQuery },
  responses: { 200: dataResponse(Resolution, 'The answer a visitor would get') },
  fails: [404],
})

const PAGE_STATUS = { notFound: 404, gone: 410, unavailable: 451, password: 200 } as const

interface RedirectApiNeeds {
  site: Site
  domains: Pick<DomainDirectory, 'get'>
  now: () => number
  /** True where the operator blocks the host of a link's destination. */
  isBlockedDestination: DestinationJudge
}

export function createRedirectApi({ site, domains, now, isBlockedDestination }: RedirectApiNeeds) {
  return createApi().openapi(route, async (c) => {
    const query = c.req.valid('query')
    const link = await getLink(c.get('db').read, c.get('actor'), parseId(c.req.valid('param').id))
    const domain = domains.get(link.domain)
    const cached = toCachedLink(link)
    const choice = chooseDestination(domain && answersOn(domain, cached) ? cached : null, {
      ...toVisitor(query, now),
      unlocked: false,
      clicksUsedUp: link.click_limit !== null && link.clicks_used >= link.click_limit,
      schemes: site.schemes,
      isBlocked: isBlockedDestination,
      domainExpiredUrl: toDomainTarget(site, domain?.expiredUrl ?? null, link.slug),
    })
    const status = choice.kind === 'go' ? choice.status : PAGE_STATUS[choice.kind]
    const destinationUrl = choice.kind === 'go' ? choice.url : null
    return c.json({ data: { rule: choice.rule, status, destinationUrl } }, 200)
  })
}

/** The visitor whom a request describes, for targeting and for rules. */
function toVisitor(
  { country: code, device, os, language, query = '', at: time }: z.infer<typeof ResolveQuery>,
  now: () => number,
) {
  const at = time === undefined ? now() : Date.parse(time)
  const country = code === undefined ? null : readCountryCode(code)
  const system = os ?? (device === 'ios' || device === 'android' ? device : null)
  const targetDevice: TargetDevice = system === 'ios' || system === 'android' ? system : 'desktop'
  const isPhone =
    device === 'ios' || device === 'android' || (device === undefined && targetDevice !== 'desktop')
  return {
    at,
    country,
    device: targetDevice,
    query,
    ruleVisitor: {
      at,
      country,
      device: isPhone ? ('mobile' as const) : ((device as RuleDevice | undefined) ?? 'desktop'),
      os: system,
      language: readPreferredLanguage(language ?? null),
      query,
    },
  }
}
