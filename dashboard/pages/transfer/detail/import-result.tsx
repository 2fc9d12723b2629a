// Result of an import or of a dry run: totals, notices, the outcome of each row, and next steps.

import { Link } from '@tanstack/react-router'
import { Ban, CircleCheck, CircleX, FlaskConical, Undo2 } from 'lucide-react'
import type { ImportResource } from '../../../api/transfer/imports.ts'
import { useCanEdit, useWorkspace } from '../../../shell/use-workspace.ts'
import { ButtonLink } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { formatCount, formatNumber } from '../../../ui/format.ts'
import { TEXT_LINK } from '../../../ui/text-link.ts'
import { canUndo } from '../import-state.ts'
import { getImportDraft } from '../new/import-draft.ts'
import { describeOutcome } from './describe-outcome.ts'
import { DryRunActions } from './dry-run-actions.tsx'
import { ImportRows } from './import-rows.tsx'
import { UndoButton } from './undo-button.tsx'

export function ImportResult({ item }: { item: ImportResource }) {
  return (
    <>
      <Outcome item={item} />
      {item.status !== 'undone' && item.notices.length > 0 && <Notices notices={item.notices} />}
      <ImportRows item={item} />
    </>
  )
}

const ICONS = {
  done: { Icon: CircleCheck, color: 'text-accent' },
  tried: { Icon: FlaskConical, color: 'text-accent' },
  undone: { Icon: Undo2, color: 'text-soft' },
  canceled: { Icon: Ban, color: 'text-soft' },
  failed: { Icon: CircleX, color: 'text-danger' },
}

function Outcome({ item }: { item: ImportResource }) {
  const { kind, title, text } = describeOutcome(item)
  const { Icon, color } = ICONS[kind]
  return (
    <Card>
      <div className="grid grid-cols-1 gap-5">
        <div className="flex items-start gap-3">
          <Icon size={22} className={`mt-0.5 shrink-0 ${color}`} aria-hidden />
          <div className="min-w-0">
            <h2 className="text-lg font-semibold">{title}</h2>
            <p className="break-words text-soft">{text}</p>
          </div>
        </div>
        {hasFigures(item) && <Figures item={item} />}
        <Actions item={item} />
      </div>
    </Card>
  )
}

const hasFigures = ({ status, created }: ImportResource) =>
  status === 'done' || (status === 'failed' && created > 0)

function Figures({ item }: { item: ImportResource }) {
  const figures: [name: string, value: number][] = [
    ['Rows', item.rows],
    [item.dryRun ? 'To create' : 'Created', item.created],
    ['Renamed', item.renamed],
    ['Skipped', item.skipped],
    ['Errors', item.failed],
    ['Clicks', item.clicks],
  ]
  return (
    <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
      {figures.map(([name, value]) => (
        <div key={name} className="min-w-0 rounded-xl bg-sunken px-3 py-2">
          <dt className="text-sm text-soft">{name}</dt>
          <dd className="text-lg font-semibold tabular-nums break-words">{formatNumber(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A dry run that would bring something. */
const isWorthwhile = ({ dryRun, status, created, clicks }: ImportResource) =>
  dryRun && status === 'done' && created + clicks > 0

function Actions({ item }: { item: ImportResource }) {
  const { id } = useWorkspace()
  const canEdit = useCanEdit()
  const params = { workspaceId: String(id) }
  const isPrepared = getImportDraft(id).dryRunId === item.id
  return (
    <div className="flex flex-wrap items-center gap-2">
      {canEdit && isWorthwhile(item) && <DryRunActions item={item} />}
      {canEdit && (item.dryRun || item.status === 'failed' || item.status === 'undone') && (
        <ButtonLink to="/$workspaceId/transfer" params={params} search={{}}>
          {isPrepared ? 'Change settings' : 'Start again'}
        </ButtonLink>
      )}
      {!item.dryRun && item.status === 'done' && (
        <ButtonLink variant="primary" to="/$workspaceId/links" params={params} search={{ archived: 'all' }}>
          Show links
        </ButtonLink>
      )}
      {canEdit && canUndo(item) && <UndoButton item={item} />}
    </div>
  )
}

function Notices({ notices }: { notices: string[] }) {
  const { id } = useWorkspace()
  const isAboutCase = notices.some((text) => /case/i.test(text))
  return (
    <Card title={formatCount(notices.length, 'notice')}>
      <ul className="grid list-disc gap-2 pl-5">
        {notices.map((text) => (
          <li key={text} className="break-words">
            {text}
          </li>
        ))}
      </ul>
      {isAboutCase && (
        <p className="mt-3 text-sm">
          <Link
            to="/$workspaceId/domains"
            params={{ workspaceId: String(id) }}
            search={{ new: '1' }}
            className={TEXT_LINK}
          >
            Add a case-sensitive domain
          </Link>
        </p>
      )}
    </Card>
  )
}
