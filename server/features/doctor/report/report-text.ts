// The report as text for a person at a terminal: one line a finding, and the fix below it.

import type { FindingStatus } from '../finding.ts'
import { formatCount } from '../format.ts'
import type { DoctorReport, ReportedFinding } from '../schema.ts'

const MARKS: Record<FindingStatus, string> = { ok: '✓', warning: '!', problem: '✗', skipped: '–' }
/** https://en.wikipedia.org/wiki/ANSI_escape_code#Colors */
const COLORS: Record<FindingStatus, number> = { ok: 32, warning: 33, problem: 31, skipped: 90 }
const TITLE_WIDTH = 18

export function formatReport({ findings }: DoctorReport, hasColors: boolean): string {
  const paint = (status: FindingStatus, text: string) =>
    hasColors ? `\u001b[${COLORS[status]}m${text}\u001b[0m` : text
  const groups = Map.groupBy(findings, ({ group }) => group)
  const lines = [...groups].flatMap(([group, members]) => [
    group,
    ...members.flatMap((finding) => formatFinding(finding, paint)),
    '',
  ])
  return [...lines, formatSummary(findings)].join('\n')
}

function formatFinding(
  { status, title, summary, fix }: ReportedFinding,
  paint: (status: FindingStatus, text: string) => string,
): string[] {
  const line = `  ${paint(status, MARKS[status])} ${title.padEnd(TITLE_WIDTH)} ${summary}`
  return fix === null ? [line] : [line, `${' '.repeat(TITLE_WIDTH + 5)}→ ${fix}`]
}

function formatSummary(findings: ReportedFinding[]): string {
  const count = (status: FindingStatus) => findings.filter((finding) => finding.status === status).length
  const [problems, warnings, skips] = [count('problem'), count('warning'), count('skipped')]
  if (problems + warnings + skips === 0) return 'All is well.'
  const parts = [
    problems > 0 && formatCount(problems, 'problem'),
    warnings > 0 && formatCount(warnings, 'warning'),
    skips > 0 && `${skips} skipped`,
  ].filter(Boolean)
  return `${problems === 0 ? 'No problem' : 'Not well'}: ${parts.join(', ')}.`
}
