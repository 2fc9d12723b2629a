// The health of the server: what `towpath doctor` finds, for owners of the first workspace.

import { useQuery } from '@tanstack/react-query'
import {
  CircleCheck,
  CircleMinus,
  CircleX,
  type LucideIcon,
  RotateCw,
  Stethoscope,
  TriangleAlert,
} from 'lucide-react'
import { useMemo } from 'react'
import { createWorkspaceApi } from '../../api/client.ts'
import { type DoctorReport, doctorQuery, type ReportedFinding } from '../../api/doctor.ts'
import { translateFinding } from '../../api/finding-texts.ts'
import { useOperatedWorkspace } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { formatCount } from '../../ui/format.ts'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { SettingsHeading } from './settings-heading.tsx'

export function ServerHealth() {
  const operated = useOperatedWorkspace()
  if (operated) return <Report workspaceId={operated.id} />
  return (
    <>
      <SettingsHeading title="Server health" />
      <EmptyState icon={Stethoscope} title="Only the operator can see this">
        The health of the server is shown to owners of the installation’s first workspace.
      </EmptyState>
    </>
  )
}

function Report({ workspaceId }: { workspaceId: number }) {
  const report = useQuery(doctorQuery(useMemo(() => createWorkspaceApi(workspaceId), [workspaceId])))
  const check = () => void report.refetch()
  return (
    <>
      <SettingsHeading
        title="Server health"
        description={
          <>
            The findings of <code>npx towpath doctor</code>. A few checks need a terminal and appear only
            there.
          </>
        }
        actions={
          report.data && (
            <Button icon={<RotateCw size={15} />} busy={report.isFetching} onClick={check}>
              Check again
            </Button>
          )
        }
      />
      {report.isPending && <SkeletonRows rows={8} className="h-14" />}
      {report.isError && <ErrorState error={report.error} retry={check} />}
      {report.data && <Findings report={report.data} isChecking={report.isFetching} />}
    </>
  )
}

const ATTENTION = 'Needs attention'
/** Findings that need a person come first. */
const ORDER: ReportedFinding['status'][] = ['problem', 'warning', 'ok', 'skipped']

function Findings({ report, isChecking }: { report: DoctorReport; isChecking: boolean }) {
  const isOpen = ({ status }: ReportedFinding) => status === 'problem' || status === 'warning'
  const groups = Map.groupBy(
    report.findings.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status)),
    (finding) => (isOpen(finding) ? ATTENTION : finding.group),
  )
  return (
    <>
      <p role="status">
        <span className="font-semibold">{isChecking ? 'Checking…' : toSummary(report)}</span>{' '}
        <span className="text-sm text-soft">
          <RelativeTime at={report.checkedAt} />
        </span>
      </p>
      {[...groups].map(([group, findings]) => (
        <Card key={group} title={translateFinding(group)}>
          <ul aria-label={translateFinding(group)} className="-my-3 divide-y divide-line">
            {findings.map((finding) => (
              <FindingRow key={`${finding.check} ${finding.summary}`} finding={finding} />
            ))}
          </ul>
        </Card>
      ))}
    </>
  )
}

function toSummary({ findings }: DoctorReport): string {
  const count = (status: ReportedFinding['status']) =>
    findings.filter((finding) => finding.status === status).length
  const parts = [
    count('problem') > 0 && formatCount(count('problem'), 'problem'),
    count('warning') > 0 && formatCount(count('warning'), 'warning'),
  ].filter(Boolean)
  return parts.length === 0 ? 'All is well' : parts.join(', ')
}

const STATES: Record<ReportedFinding['status'], { label: string; icon: LucideIcon; color: string }> = {
  ok: { label: 'OK', icon: CircleCheck, color: 'text-accent' },
  warning: { label: 'Warning', icon: TriangleAlert, color: 'text-warn' },
  problem: { label: 'Problem', icon: CircleX, color: 'text-danger' },
  skipped: { label: 'Skipped', icon: CircleMinus, color: 'text-soft' },
}

function FindingRow({ finding: { title, status, summary, fix } }: { finding: ReportedFinding }) {
  const { label, icon: Icon, color } = STATES[status]
  return (
    <li className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 py-3">
      <Icon size={18} className={`mt-0.5 ${color}`} aria-label={label} role="img" />
      <p className="font-medium">{translateFinding(title)}</p>
      <p className="col-start-2 text-sm break-words text-soft">{translateFinding(summary)}</p>
      {fix && <p className="col-start-2 text-sm break-words">{translateFinding(fix)}</p>}
    </li>
  )
}
