// The content of a report of a view, as it was counted: all attempts and all channels say the same.

import type { Connection } from '../../../storage/database/open-database.ts'
import type { NoticeContent, ReportContent } from '../channels/contract.ts'
import { formatChange, formatReportCount } from '../channels/report-body.ts'
import { toOneLine, truncateText } from '../channels/safe-text.ts'
import { createNotice } from './notice-content.ts'

const LABEL_MAX = 80

/** @returns undefined when the view is gone */
export async function findReportContent(
  connection: Connection,
  { id, workspaceId }: { id: number; workspaceId: number },
): Promise<NoticeContent | undefined> {
  const row = await connection
    .selectFrom('deliveries')
    .innerJoin('view_reports', 'view_reports.id', 'deliveries.report_id')
    .select(['view_reports.content', 'view_reports.created_at'])
    .where('deliveries.workspace_id', '=', workspaceId)
    .where('view_reports.workspace_id', '=', workspaceId)
    .where('deliveries.id', '=', id)
    .executeTakeFirst()
  if (!row) return undefined
  const report: ReportContent = JSON.parse(row.content)
  const { workspaceId: _, ...json } = report
  const { name, url } = report
  const about = { name, at: row.created_at, fields: toFields(report), url, json: JSON.stringify(json) }
  return { ...createNotice(about), report }
}

/** For text and chats. */
function toFields({ period, timezone, totals, lists }: ReportContent): Map<string, string> {
  const fields = new Map([['Period', `${period} (${timezone})`]])
  for (const total of totals) {
    const change = formatChange(total)
    fields.set(total.label, formatReportCount(total.count) + (change === '' ? '' : ` (${change})`))
  }
  for (const { title, rows } of lists)
    if (rows.length > 0)
      fields.set(
        title,
        rows
          .map(
            ({ label, count }) => `${formatReportCount(count)}  ${truncateText(toOneLine(label), LABEL_MAX)}`,
          )
          .join('\n'),
      )
  return fields
}
