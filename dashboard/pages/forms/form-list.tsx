// The table of forms. j and k move through it, Enter opens a form.

import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChevronRight, Inbox } from 'lucide-react'
import { useMemo, useRef } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { formQuery } from '../../api/forms.ts'
import { useApi, useWorkspace } from '../../shell/use-workspace.ts'
import { Badge } from '../../ui/badge.tsx'
import { CopyButton } from '../../ui/copy/copy-button.tsx'
import { formatCount, formatNumber } from '../../ui/format.ts'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'

export function FormList({ forms }: { forms: FormResource[] }) {
  const list = useRef<HTMLTableSectionElement>(null)
  const step = (by: number) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>('a[data-row]') ?? [])]
    const at = links.indexOf(document.activeElement as HTMLElement)
    links[Math.min(Math.max(at + by, 0), links.length - 1)]?.focus()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: `step` reads the table when a key is pressed
  const keys = useMemo(
    () => [
      { keys: 'j', label: 'Next form', run: () => step(1) },
      { keys: 'k', label: 'Previous form', run: () => step(-1) },
    ],
    [],
  )
  useShortcuts(keys)
  return (
    <div className="overflow-hidden rounded-2xl border border-line bg-card">
      <table className="w-full text-left">
        <thead className="border-b border-line text-sm text-soft max-sm:sr-only">
          <tr>
            <th className="py-2.5 pl-5 font-medium">Name</th>
            <th className="px-3 py-2.5 text-right font-medium">Submissions</th>
            <th className="px-3 py-2.5 font-medium">Last submission</th>
            <th className="px-3 py-2.5 font-medium">Status</th>
            <th className="px-3 py-2.5">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody ref={list}>
          {forms.map((form) => (
            <Row key={form.formKey} form={form} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ form }: { form: FormResource }) {
  const workspaceId = String(useWorkspace().id)
  const api = useApi()
  const client = useQueryClient()
  const prefetch = () => void client.prefetchQuery(formQuery(api, form.formKey))
  return (
    <tr
      onPointerEnter={prefetch}
      onFocus={prefetch}
      className="relative border-line not-last:border-b hover:bg-hover max-sm:grid max-sm:grid-cols-[minmax(0,1fr)_auto] max-sm:px-4 max-sm:py-3"
    >
      <td className="min-w-0 sm:max-w-0 sm:w-1/2 sm:py-3 sm:pl-5">
        <Link
          to="/$workspaceId/forms/$formKey"
          params={{ workspaceId, formKey: form.formKey }}
          search={{}}
          data-row
          className="block truncate font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
        >
          {form.name}
        </Link>
        <span className="block truncate font-mono text-sm text-soft">{form.formKey}</span>
      </td>
      <td className="text-right tabular-nums sm:px-3">
        {formatNumber(form.submissions)}
        <span className="text-soft sm:sr-only"> {form.submissions === 1 ? 'submission' : 'submissions'}</span>
      </td>
      <td className="text-soft whitespace-nowrap max-sm:text-sm sm:px-3">
        {form.lastSubmissionAt ? <RelativeTime at={form.lastSubmissionAt} /> : 'Never'}
      </td>
      <td className="max-sm:text-right sm:px-3">
        <FormStateBadge form={form} />
      </td>
      <td className="pr-3 text-right whitespace-nowrap max-sm:hidden">
        {/* Only the buttons are above the link of the row: a click beside them opens the form. */}
        <span className="inline-flex items-center [&>:is(button,a)]:relative [&>:is(button,a)]:z-1">
          <CopyButton text={form.endpoint} label={`Copy endpoint of ${form.name}`} />
          <Link
            to="/$workspaceId/inbox"
            params={{ workspaceId }}
            search={{ formKey: form.formKey }}
            aria-label={`${formatCount(form.submissions, 'submission')} of ${form.name} in the inbox`}
            title="Open in inbox"
            className="inline-grid size-8 place-items-center rounded-lg text-soft hover:bg-hover hover:text-ink"
          >
            <Inbox size={16} />
          </Link>
          <ChevronRight size={16} aria-hidden className="ml-1 text-soft" />
        </span>
      </td>
    </tr>
  )
}

export const FormStateBadge = ({ form }: { form: Pick<FormResource, 'enabled'> }) =>
  form.enabled ? <Badge tone="good">Open</Badge> : <Badge tone="warn">Closed</Badge>
