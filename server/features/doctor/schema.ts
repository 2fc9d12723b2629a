// The report of the checks as JSON: for the API, and for `towpath doctor --json`.

import { z } from '@hono/zod-openapi'
import { FINDING_STATUSES } from './finding.ts'

const FindingShape = z
  .strictObject({
    check: z.string().openapi({ description: 'The name of the check, such as `disk`' }),
    title: z.string(),
    group: z.string(),
    status: z.enum(FINDING_STATUSES),
    summary: z.string(),
    fix: z.string().nullable().openapi({ description: 'The fix; null when none is needed' }),
  })
  .openapi('Finding')

export const DoctorReportShape = z
  .strictObject({
    status: z.enum(['ok', 'warning', 'problem']).openapi({ description: 'The worst of the findings' }),
    checkedAt: z.iso.datetime(),
    findings: z.array(FindingShape),
  })
  .openapi('DoctorReport')
export type DoctorReport = z.infer<typeof DoctorReportShape>
export type ReportedFinding = DoctorReport['findings'][number]
