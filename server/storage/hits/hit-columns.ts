// The columns of a hit in an engine's tables: one name for each field of `Hit`, the same in every engine.

import { HIT_DIMENSIONS, type Hit } from './hit.ts'
import type { OwnColumn } from './hit-engine.ts'

export const HIT_COLUMNS: Record<keyof Hit, string> = {
  id: 'id',
  at: 'recorded_at',
  workspaceId: 'workspace_id',
  linkId: 'link_id',
  outcome: 'outcome',
  class: 'class',
  trigger: 'trigger',
  visitor: 'visitor',
  country: 'country',
  region: 'region',
  city: 'city',
  continent: 'continent',
  device: 'device',
  browser: 'browser',
  os: 'os',
  referrer: 'referrer',
  referrerUrl: 'referrer_url',
  utmSource: 'utm_source',
  utmMedium: 'utm_medium',
  utmCampaign: 'utm_campaign',
  utmTerm: 'utm_term',
  utmContent: 'utm_content',
  unknownSlug: 'unknown_slug',
  importId: 'import_id',
  variant: 'variant',
  params: 'params',
}

/** The columns that a question can filter or group by. */
export const QUERY_COLUMNS = Object.fromEntries(
  (['linkId', 'class', ...HIT_DIMENSIONS] as const).map((field) => [field, HIT_COLUMNS[field]]),
) as Record<OwnColumn, string>
