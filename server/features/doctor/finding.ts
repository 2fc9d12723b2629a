// The result of a check: the one shape of the text, of `--json`, of the API and of the dashboard.

export const FINDING_STATUSES = ['ok', 'warning', 'problem', 'skipped'] as const
export type FindingStatus = (typeof FINDING_STATUSES)[number]

export interface DoctorFinding {
  /** The name of the check (check-list.ts). A check may have several findings. */
  check: string
  status: FindingStatus
  /** One sentence. It has no secret, no address of a person, and no URL of a receiver. */
  summary: string
  /** The fix; absent where there is nothing to do. */
  fix?: string
}

/** A finding without the name of its check, which the registry adds. */
export type CheckResult = Omit<DoctorFinding, 'check'>

export const ok = (summary: string): CheckResult => ({ status: 'ok', summary })
export const skipped = (summary: string, fix?: string): CheckResult => toResult('skipped', summary, fix)
/** It works, and something may go wrong later. */
export const warning = (summary: string, fix: string): CheckResult => ({ status: 'warning', summary, fix })
/** Something does not work, or data are in danger now. */
export const problem = (summary: string, fix: string): CheckResult => ({ status: 'problem', summary, fix })

const toResult = (status: FindingStatus, summary: string, fix: string | undefined): CheckResult =>
  fix === undefined ? { status, summary } : { status, summary, fix }

/** The complaints of a check, or without any a finding that all is well. */
export const complaintsOr = (complaints: CheckResult[], summary: string): CheckResult[] =>
  complaints.length > 0 ? complaints : [ok(summary)]
