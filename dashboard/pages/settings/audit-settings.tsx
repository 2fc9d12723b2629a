// The audit log of the workspace: who did what, with filters and an export. For owners.

import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Download, ScrollText, ShieldAlert } from 'lucide-react'
import { type AuditEventResource, type AuditFilter, auditQuery, exportAudit } from '../../api/audit.ts'
import { useApi, useWorkspace } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState, NoMatches } from '../../ui/empty-state.tsx'
import { formatCount, formatTime } from '../../ui/format.ts'
import { DayRangeField } from '../../ui/forms/day-range-field.tsx'
import { Field, Input, SelectField } from '../../ui/forms/field.tsx'
import { useDebouncedText } from '../../ui/forms/use-debounced-text.ts'
import { Menu, MenuItem } from '../../ui/overlays/menu.tsx'
import { toastError } from '../../ui/overlays/toast.tsx'
import { QueryState } from '../../ui/query-state.tsx'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { ShowMore } from '../../ui/show-more.tsx'
import { ACTION_LABELS, toActorFilter, toActorText, toDetailText, toTargetText } from './audit-text.ts'
import { SettingsHeading } from './settings-heading.tsx'

const FROM = '/$workspaceId/settings'

export function AuditSettings() {
  const { role } = useWorkspace()
  return (
    <>
      <SettingsHeading
        title="Audit log"
        description="Who did what in this workspace. Events are kept for 180 days, and nobody can change or delete them before. IP addresses aren’t recorded."
      />
      {role === 'owner' ? (
        <AuditLog />
      ) : (
        <EmptyState icon={ShieldAlert} title="Only owners can read the audit log">
          It records who changed members, keys and channels, who exported data, and who signed in.
        </EmptyState>
      )}
    </>
  )
}

function useAuditFilter() {
  const { tab: _, ...filter } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: FROM })
  const set = (changes: { [name in keyof AuditFilter]: string | undefined }) => {
    const next = Object.entries({ ...filter, ...changes }).filter(([, value]) => value)
    void navigate({ search: { tab: 'audit', ...Object.fromEntries(next) }, replace: true })
  }
  return { filter, set, clear: () => void navigate({ search: { tab: 'audit' }, replace: true }) }
}

function AuditLog() {
  const api = useApi()
  const { filter, set, clear } = useAuditFilter()
  const events = useInfiniteQuery(auditQuery(api, filter))
  const rows = events.data?.pages.flatMap(({ data }) => data)
  const isFiltered = Object.keys(filter).length > 0
  return (
    <>
      <Filters filter={filter} set={set} />
      <QueryState query={events} rows={6} className="h-16" />
      {rows?.length === 0 && isFiltered && <NoMatches clear={clear} />}
      {rows?.length === 0 && !isFiltered && (
        <EmptyState icon={ScrollText} title="No events yet">
          Changes of members, keys and channels, exports, deletions and sign-ins appear here.
        </EmptyState>
      )}
      {rows && rows.length > 0 && (
        <Card
          title={formatCount(events.data?.pages[0]?.total ?? 0, 'event')}
          actions={<ExportMenu filter={filter} />}
        >
          <ul aria-label="Events" className="-my-3 divide-y divide-line">
            {rows.map((event) => (
              <EventRow key={event.id} event={event} showActor={(actor) => set({ actor })} />
            ))}
          </ul>
        </Card>
      )}
      <ShowMore query={events} className="text-center" />
    </>
  )
}

function EventRow({ event, showActor }: { event: AuditEventResource; showActor: (actor: string) => void }) {
  const target = toTargetText(event.target)
  const detail = toDetailText(event.detail)
  return (
    <li className="grid gap-x-4 gap-y-0.5 py-3 sm:grid-cols-[minmax(0,1fr)_auto]">
      <p className="min-w-0 break-words">
        <span className="font-medium">{ACTION_LABELS[event.action]}</span>
        {target && <span> {target}</span>}
      </p>
      <p className="text-sm whitespace-nowrap text-soft sm:text-right" title={formatTime(event.at)}>
        <RelativeTime at={event.at} />
      </p>
      <p className="min-w-0 text-sm break-words text-soft sm:col-span-2">
        <button
          type="button"
          className="max-w-full text-left break-words text-link"
          title="Show only events of this actor"
          onClick={() => showActor(toActorFilter(event.actor))}
        >
          {toActorText(event.actor)}
        </button>
        {detail && <span className="break-all"> · {detail}</span>}
      </p>
    </li>
  )
}

const TYPING_MS = 250

function Filters({ filter, set }: { filter: AuditFilter; set: ReturnType<typeof useAuditFilter>['set'] }) {
  const [actor, setActor] = useDebouncedText(filter.actor ?? '', (next) => set({ actor: next }), {
    afterMs: TYPING_MS,
  })
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      <SelectField
        label="Action"
        className="grid-cols-[minmax(0,1fr)]"
        value={filter.action ?? ''}
        onChange={(event) => set({ action: event.target.value })}
      >
        <option value="">All actions</option>
        {Object.entries(ACTION_LABELS).map(([action, label]) => (
          <option key={action} value={action}>
            {label}
          </option>
        ))}
      </SelectField>
      <Field label="By" className="grid-cols-[minmax(0,1fr)]">
        {(control) => (
          <Input
            {...control}
            value={actor}
            placeholder="Email or key name"
            maxLength={254}
            autoComplete="off"
            onChange={(event) => setActor(event.target.value)}
          />
        )}
      </Field>
      <DayRangeField
        start={filter.start}
        end={filter.end}
        onChange={({ start, end }) => set({ start, end })}
      />
    </div>
  )
}

function ExportMenu({ filter }: { filter: AuditFilter }) {
  const api = useApi()
  const save = useMutation({
    mutationFn: (format: 'csv' | 'ndjson') => exportAudit(api, filter, format),
    onSuccess: saveFile,
    onError: (error) => toastError(error, 'Couldn’t export'),
  })
  return (
    <Menu
      trigger={
        <Button size="small" icon={<Download size={15} />} busy={save.isPending}>
          Export
        </Button>
      }
    >
      <MenuItem onSelect={() => save.mutate('csv')}>CSV</MenuItem>
      <MenuItem onSelect={() => save.mutate('ndjson')}>NDJSON</MenuItem>
    </Menu>
  )
}
