// Makes a report of findings.

import { toIso } from '../../../lib/iso-time.ts'
import type { DoctorFinding, FindingStatus } from '../finding.ts'
import type { DoctorReport, ReportedFinding } from '../schema.ts'
import { CHECKS } from './check-list.ts'

export function toReport(findings: DoctorFinding[], now: number): DoctorReport {
  return { status: findWorst(findings), checkedAt: toIso(now), findings: findings.map(describe) }
}

function describe({ check: name, status, summary, fix }: DoctorFinding): ReportedFinding {
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

function findWorst(findings: DoctorFinding[]): DoctorReport['status'] {
  const has = (status: FindingStatus) => findings.some((finding) => finding.status === status)
  if (has('problem')) return 'problem'
  return has('warning') ? 'warning' : 'ok'
}
