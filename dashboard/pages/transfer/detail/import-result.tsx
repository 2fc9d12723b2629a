// What an import has done, or what it would do: figures, notices, the outcome of each row, and what comes next.

import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleX, FlaskConical, Undo2 } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ImportResource } from '../../../api/imports.ts'
import { useCanEdit, useWorkspace } from '../../../shell/use-workspace.ts'
import { ButtonLink } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { formatCount, formatDay, formatNumber } from '../../../ui/format.ts'
import { TEXT_LINK } from '../../../ui/text-link.ts'
import { canUndo, countItems, isCancelled } from '../import-state.ts'
import { getImportDraft } from '../new/import-draft.ts'
import { DryRunActions } from './dry-run-actions.tsx'
import { ImportRows } from './import-rows.tsx'
import { UndoButton } from './undo-button.tsx'

export function ImportResult({ item }: { item: ImportResource }) {
  return (
    <>
      <Outcome item={item} />
      {item.notices.length > 0 && <Notices notices={item.notices} />}
      <ImportRows item={item} />
    </>
  )
}

function Outcome({ item }: { item: ImportResource }) {
  const { icon, title, text } = describe(item)
  return (
    <Card>
      <div className="grid grid-cols-1 gap-5" role="status">
        <div className="flex items-start gap-3">
          <span className="mt-0.5 shrink-0">{icon}</span>
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

function describe(item: ImportResource): { icon: ReactNode; title: string; text: string } {
  const { status, dryRun, created, skipped, failed, undoneAt, undoableUntil } = item
  if (status === 'failed')
    return {
      icon: <CircleX size={22} className="text-danger" aria-hidden />,
      title: dryRun
        ? 'This cannot be imported'
        : created > 0
          ? 'The import has stopped early'
          : 'Nothing was imported',
      text: item.problem ?? 'The import has failed.',
    }
  if (isCancelled(item))
    return {
      icon: <CircleX size={22} className="text-soft" aria-hidden />,
      title: 'Cancelled',
      text: 'Nothing has changed.',
    }
  if (status === 'undone')
    return {
      icon: <Undo2 size={22} className="text-soft" aria-hidden />,
      title: 'The import is undone',
      text: `${undoneAt ? `Undone on ${formatDay(undoneAt)}. ` : ''}${
        item.kept.length > 0
          ? `${countItems(item, item.kept.length)} stayed: see below why.`
          : 'Everything that it had created is gone.'
      }`,
    }
  if (dryRun)
    return {
      icon: <FlaskConical size={22} className="text-accent" aria-hidden />,
      title: created > 0 ? `${countItems(item, created)} would be created` : 'Nothing would be created',
      text: 'This was a dry run: nothing has changed yet.',
    }
  return {
    icon: <CircleCheck size={22} className="text-accent" aria-hidden />,
    title: `${countItems(item, created)} imported`,
    text: [
      skipped + failed > 0 &&
        `${formatCount(skipped + failed, 'row was', 'rows were')} left out: see below why.`,
      canUndo(item) && undoableUntil && `You can undo this until ${formatDay(undoableUntil)}.`,
    ]
      .filter(Boolean)
      .join(' '),
  }
}

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
