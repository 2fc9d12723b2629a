// The rows of an imported file, by outcome. Strangers write the names and values.

import { keepPreviousData, useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { toScreenName, withScreenNames } from '../../../api/field-names.ts'
import {
  fetchImportErrors,
  type ImportResource,
  type ImportRowResource,
  importRowsQuery,
  type RowGroup,
  rowTotalsQuery,
} from '../../../api/transfer/imports.ts'
import { useApi, useWorkspace } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatNumber } from '../../../ui/format.ts'
import { toastError } from '../../../ui/overlays/toast.tsx'
import { saveFile } from '../../../ui/save-file.ts'
import { ShowMore } from '../../../ui/show-more.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { TabLinks } from '../../../ui/tab-links.tsx'
import { toCellText } from '../new/recognized-file.tsx'

const FROM = '/$workspaceId/settings/transfer/$importId'

const LABELS: Record<RowGroup, string> = {
  kept: 'Kept',
  failed: 'Errors',
  skipped: 'Skipped',
  renamed: 'Renamed',
  created: 'Created',
  tags: 'Tags',
}

export function ImportRows({ item }: { item: ImportResource }) {
  const { id } = useWorkspace()
  const search = useSearch({ from: FROM })
  const totals = useQuery(rowTotalsQuery(useApi(), item))
  if (totals.isPending) return <SkeletonRows rows={5} className="h-12" />
  if (!totals.data) return <ErrorState error={totals.error} retry={() => void totals.refetch()} />
  const open = totals.data.find(({ group }) => group === search.outcome) ?? totals.data[0]
  if (!open) return null
  return (
    <section aria-label="Rows" className="min-w-0 rounded-2xl border border-line bg-card">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-3 py-2 sm:px-4">
        <TabLinks
          label="Outcome"
          className="min-w-0 flex-1 basis-72"
          current={open.group}
          tabs={totals.data.map(({ group, total }) => ({
            id: group,
            label: LABELS[group],
            extra: <span className="font-normal tabular-nums">{formatNumber(total)}</span>,
            link: {
              to: FROM,
              params: { workspaceId: String(id), importId: String(item.id) },
              search: { outcome: group },
            },
          }))}
        />
        {open.group === 'failed' && <ErrorsButton id={item.id} />}
      </header>
      <Rows key={open.group} item={item} group={open.group} />
    </section>
  )
}

function ErrorsButton({ id }: { id: number }) {
  const api = useApi()
  const save = useMutation({
    mutationFn: () => fetchImportErrors(api, id),
    onSuccess: saveFile,
    onError: (error) => toastError(error, 'Couldn’t download'),
  })
  return (
    <Button size="small" icon={<Download size={14} />} busy={save.isPending} onClick={() => save.mutate()}>
      Errors as CSV
    </Button>
  )
}

function Rows({ item, group }: { item: ImportResource; group: RowGroup }) {
  const query = useInfiniteQuery({
    ...importRowsQuery(useApi(), item, group),
    placeholderData: keepPreviousData,
  })
  if (query.isPending)
    return (
      <div className="p-4">
        <SkeletonRows rows={5} className="h-10" />
      </div>
    )
  if (!query.data)
    return (
      <div className="p-4">
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      </div>
    )
  const rows = query.data.pages.flatMap(({ data }) => data)
  return (
    <>
      <table className="block w-full text-left text-sm sm:table sm:table-fixed">
        <thead className="max-sm:sr-only">
          <tr className="border-b border-line text-soft">
            <th scope="col" className="w-20 px-4 py-2 font-medium">
              Row
            </th>
            <th scope="col" className="w-2/5 px-2 py-2 font-medium">
              What
            </th>
            <th scope="col" className="px-4 py-2 font-medium">
              {group === 'created' || group === 'tags' ? 'Note' : 'Why'}
            </th>
          </tr>
        </thead>
        <tbody className="max-sm:block sm:divide-y sm:divide-line">
          {rows.map((row) => (
            <Row key={row.id} row={row} isDryRun={item.dryRun} />
          ))}
        </tbody>
      </table>
      <ShowMore query={query} className="border-t border-line p-3" size="small" />
    </>
  )
}

function Row({ row, isDryRun }: { row: ImportRowResource; isDryRun: boolean }) {
  const { name, value, field, message } = row
  const subject = [KINDS[row.kind], field !== null && toColumnName(field)].filter(Boolean).join(': ')
  return (
    <tr className="max-sm:block max-sm:border-b max-sm:border-line max-sm:px-4 max-sm:py-2.5 max-sm:last:border-b-0">
      <td className="align-top text-soft tabular-nums max-sm:text-xs sm:px-4 sm:py-2">
        <span className="sm:hidden">Row </span>
        {formatNumber(row.row)}
      </td>
      <td className="align-top font-medium wrap-anywhere max-sm:block sm:px-2 sm:py-2">
        {name !== null && (
          <Name row={row} isDryRun={isDryRun}>
            {toCellText(name)}
          </Name>
        )}
        {subject && <span className="block font-normal text-soft">{subject}</span>}
        {value !== null && value !== '' && <code className="block font-normal">{toCellText(value)}</code>}
      </td>
      <td className="align-top break-words max-sm:block sm:px-4 sm:py-2">
        {message !== null && toSentence(withScreenNames(message))}
      </td>
    </tr>
  )
}

/** Most rows are links, and need no word for it. */
const KINDS: Record<ImportRowResource['kind'], string> = {
  link: '',
  tag: 'Tag',
  form: 'Form',
  submission: 'Submission',
  channel: 'Channel',
  domain: 'Domain',
  view: 'View',
  settings: 'Analytics settings',
  utmTemplate: 'UTM template',
  click: 'Click history',
}

/** Rules begin with `must`; a name at the begin stays as it is. */
const toSentence = (text: string) =>
  text.replace(/^[a-z]+ /, (word) => word.charAt(0).toUpperCase() + word.slice(1))

/** A field of ours in the words of the screens, or a column as the file has it. */
const toColumnName = (field: string) =>
  /^[a-z]+[a-zA-Z]*$/.test(field) ? toScreenName(field) : toCellText(field)

function Name({ row, isDryRun, children }: { row: ImportRowResource; isDryRun: boolean; children: string }) {
  const { id } = useWorkspace()
  const exists = !isDryRun && row.kind === 'link' && row.itemId !== null && row.outcome !== 'failed'
  if (!exists) return <bdi>{children}</bdi>
  return (
    <Link
      to="/$workspaceId/links/$linkId"
      params={{ workspaceId: String(id), linkId: String(row.itemId) }}
      search={{}}
      className="text-link"
    >
      <bdi>{children}</bdi>
    </Link>
  )
}
