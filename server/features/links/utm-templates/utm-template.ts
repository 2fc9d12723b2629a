// A UTM template as a row and as the resource that callers see.

import type { Selectable } from 'kysely'
import { Failure, invalid, notFound } from '../../../lib/failure.ts'
import { toIso } from '../../../lib/iso-time.ts'
import { foldCase } from '../../../lib/text.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { UtmTemplates } from '../../../storage/database/tables/link-tables.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { UtmTemplateInput, UtmTemplateResource } from './schema.ts'

type Row = Selectable<UtmTemplates>

export const utmTemplateConflict = () => new Failure('conflict', 'UTM template name already in use')

export const toUtmTemplateResource = (row: Row): UtmTemplateResource => ({
  id: row.id,
  name: row.name,
  utmSource: row.utm_source,
  utmMedium: row.utm_medium,
  utmCampaign: row.utm_campaign,
  utmTerm: row.utm_term,
  utmContent: row.utm_content,
  createdAt: toIso(row.created_at),
  updatedAt: toIso(row.updated_at),
})

const NO_VALUES = {
  name: '',
  utm_source: null,
  utm_medium: null,
  utm_campaign: null,
  utm_term: null,
  utm_content: null,
}
type ValueColumns = Pick<Row, keyof typeof NO_VALUES>

/** @param before the stored values that absent fields keep @throws Failure `invalid` for a template without a value */
export function toUtmTemplateColumns(input: UtmTemplateInput, before: ValueColumns = NO_VALUES) {
  const choose = <T>(value: T | undefined, stored: T) => (value === undefined ? stored : value)
  const name = input.name ?? before.name
  const values = {
    utm_source: choose(input.utmSource, before.utm_source),
    utm_medium: choose(input.utmMedium, before.utm_medium),
    utm_campaign: choose(input.utmCampaign, before.utm_campaign),
    utm_term: choose(input.utmTerm, before.utm_term),
    utm_content: choose(input.utmContent, before.utm_content),
  }
  if (Object.values(values).every((value) => value === null))
    throw invalid({ utmSource: 'must be given, or another UTM value: a template fills at least one' })
  return { name, name_key: foldCase(name), ...values }
}

/** @throws Failure `not_found`, for an unknown template and for one of another workspace alike */
export async function getUtmTemplate(connection: Connection, actor: Actor, id: number): Promise<Row> {
  const row = await connection
    .selectFrom('utm_templates')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw notFound('UTM template')
  return row
}
