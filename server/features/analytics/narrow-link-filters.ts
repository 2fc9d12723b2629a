// Keeps of a filter for many links the links of a range of leads. A tag can have 100,000 links: a statement for each range
// that lists all of them took 2.6 s for 100,000 leads.

import type { Database } from '../../storage/database/database.ts'
import { queryRaw } from '../../storage/database/raw-query.ts'
import type { ColumnFilter } from '../../storage/filter-sql.ts'
import { type AttributionModel, NO_LINK, toCreditedLeadsSql } from './attribution-model.ts'
import type { TimeRange } from './timeline.ts'

interface Selection<Column extends string> extends TimeRange {
  workspaceId: number
  model: AttributionModel
  filters: ColumnFilter<Column>[]
}

/** Below this, the list costs less than the question which links the leads of a range have. */
const MANY_LINKS = 500

/** @returns a function that gives the selection of a range: it has the same leads */
export function createRangeSelector<Column extends string>(
  db: Database,
  selection: Selection<Column>,
): (range: TimeRange) => Promise<Selection<Column>> {
  const links = new Map<ColumnFilter<Column>, Set<number>>()
  for (const filter of selection.filters) {
    if (filter.column !== 'linkId' || filter.values.length <= MANY_LINKS) continue
    links.set(filter, new Set(filter.values.map(Number)))
  }
  return async (range) => {
    const ofRange = { ...selection, ...range }
    if (links.size === 0) return ofRange
    const credited = await listCreditedLinks(db, ofRange)
    const filters = selection.filters.map((filter) => {
      const ids = links.get(filter)
      return ids ? { ...filter, values: credited.filter((id) => ids.has(id)) } : filter
    })
    return { ...ofRange, filters }
  }
}

async function listCreditedLinks(db: Database, selection: Selection<string>): Promise<number[]> {
  const rows = await queryRaw<{ link: number | string | null }>(
    db,
    (_, bind) =>
      `SELECT DISTINCT link_id AS link FROM (${toCreditedLeadsSql(selection, selection.model, bind)}) AS credited`,
  )
  return rows.map(({ link }) => Number(link ?? NO_LINK))
}
