// Questions about the clicks and leads of a workspace, and answers that two servers can be compared by.

import { retryWhile503 } from '../server/retry-503.ts'
import { until } from '../until.ts'
import type { TestServer } from '../world.ts'
import type { KeyedWorkspace } from './full-workspace.ts'

const FILTERS = [
  '',
  'class=all',
  'country=DE,AT',
  'country=-DE',
  'device=Mobile',
  'utmSource=newsletter',
  'trigger=qr',
  'timezone=America/New_York',
]
const LEAD_FILTERS = [
  '',
  'country=DE',
  'model=first',
  'model=linear',
  'device=-Mobile',
  'timezone=Asia/Kolkata',
]
const TIMES = ['hour', 'day', 'week', 'month'].flatMap((granularity) =>
  ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Apia'].map(
    (zone) => `granularity=${granularity}&timezone=${zone}`,
  ),
)

interface GroupingSchema {
  enum?: string[]
  anyOf?: { enum?: string[] }[]
}

/** @returns paths of the API, more than 200 */
export async function listQuestions(server: TestServer, range: string): Promise<string[]> {
  const { json } = await server.call('/v1/openapi.json')
  const listGroupings = (path: string): string[] => {
    const parameters = json.paths[path].get.parameters as { name: string; schema: GroupingSchema }[]
    const schema = parameters.find(({ name }) => name === 'groupBy')?.schema
    return ['', ...(schema?.enum ?? schema?.anyOf?.[0]?.enum ?? [])]
  }
  const ask = (path: string, groupings: string[], filters: string[]) =>
    groupings.flatMap((groupBy) =>
      filters.map((filter) =>
        [
          `${path}?${range}`,
          ...(groupBy === '' ? [] : [`groupBy=${groupBy}`]),
          ...(filter === '' ? [] : [filter]),
        ].join('&'),
      ),
    )
  return [
    ...ask('/analytics/clicks', listGroupings('/v1/analytics/clicks'), FILTERS),
    ...ask('/analytics/leads', listGroupings('/v1/analytics/leads'), LEAD_FILTERS),
    ...ask('/analytics/funnel', listGroupings('/v1/analytics/funnel'), ['', 'country=DE', 'model=first']),
    ...ask('/analytics/clicks', ['time'], TIMES),
    ...ask('/analytics/leads', ['time'], TIMES),
    `/analytics/missing?${range}`,
  ]
}

/** @returns the answer with names in place of ids */
export async function answerQuestion(
  server: TestServer,
  ws: KeyedWorkspace,
  question: string,
  names: ReadonlyMap<string, string>,
): Promise<string> {
  // With PostgreSQL, the limit of requests a minute runs on the clock of the database.
  const { status, text } = await until(
    'a place in the limit of requests',
    async () => {
      const answer = await retryWhile503(() => ws.api(question))
      return answer.status === 429 ? undefined : answer
    },
    120_000,
  )
  const host = new URL(server.origin).host
  const plain = text
    .replaceAll(host, 'default')
    .replaceAll(/"(link|linkId|tag|tagId|closestLinkId)":(\d+)/g, (_, field, id) => {
      const kind = field.startsWith('tag') ? 'tag' : 'link'
      return `"${field}":"${names.get(`${kind} ${id}`) ?? id}"`
    })
  return `${status} ${plain}`
}

/** The names of links, those in the trash too, and of tags. */
export async function listNames(server: TestServer, { id }: KeyedWorkspace): Promise<Map<string, string>> {
  const { read } = server.app.db
  const links = await read
    .selectFrom('links')
    .select(['id', 'domain', 'slug'])
    .where('workspace_id', '=', id)
    .execute()
  const tags = await read.selectFrom('tags').select(['id', 'name']).where('workspace_id', '=', id).execute()
  return new Map([
    ...links.map((link) => [`link ${link.id}`, `${link.domain}/${link.slug}`] as const),
    ...tags.map((tag) => [`tag ${tag.id}`, tag.name] as const),
  ])
}
