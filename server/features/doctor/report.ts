// The report of all checks, as the API and `towpath doctor --json` give it.

import { z } from '@hono/zod-openapi'
import { toIso } from '../../lib/api-fields.ts'
import { CHECKS } from './check-list.ts'
import { FINDING_STATUSES, type Finding, type FindingStatus } from './finding.ts'

const FindingShape = z
  .strictObject({
    check: z.string().openapi({ description: 'The name of the check, such as `disk`' }),
    title: z.string(),
    group: z.string(),
    status: z.enum(FINDING_STATUSES),
    summary: z.string(),
    fix: z.string().nullable().openapi({ description: 'What to do; null where there is nothing to do' }),
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

export function toReport(findings: Finding[], now: number): DoctorReport {
  return { status: findWorst(findings), checkedAt: toIso(now), findings: findings.map(describe) }
}

function describe({ check: name, status, summary, fix }: Finding): ReportedFinding {
  const check = CHECKS.find((each) => each.name === name)
  return {
    check: name,
    title: check?.title ?? name,
    group: check?.group ?? '',
    status,
    summary,
    fix: fix ?? null,
  }
}

function findWorst(findings: Finding[]): DoctorReport['status'] {
  const has = (status: FindingStatus) => findings.some((finding) => finding.status === status)
  if (has('problem')) return 'problem'
  return has('warning') ? 'warning' : 'ok'
}
