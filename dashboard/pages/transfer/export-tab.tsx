// The tab "Export": links as a file, the whole workspace as a zip file, and where other exports are.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import {
  exportLinks,
  exportWorkspace,
  LINK_EXPORT_FORMATS,
  type LinkExportFormat,
} from '../../api/transfer/exports.ts'
import { workspaceQuery } from '../../api/workspace.ts'
import { useApi, useWorkspace } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { SelectField } from '../../ui/forms/field.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { saveFile } from '../../ui/save-file.ts'

export function ExportTab() {
  const { data: workspace } = useQuery(workspaceQuery(useApi()))
  return (
    <div className="grid grid-cols-1 gap-6">
      <LinksExport links={workspace?.links} />
      <WorkspaceExport links={workspace?.links} submissions={workspace?.submissions} />
      <OtherExports />
    </div>
  )
}

type Exporter = Parameters<typeof exportWorkspace>[1]

/** A download with the bytes that have come, which can be canceled. Leaving the page ends it. */
function useExport(load: (options: Exporter) => Promise<{ file: Blob; name: string }>) {
  const [bytes, setBytes] = useState(0)
  const controller = useRef<AbortController>(undefined)
  const save = useMutation({
    async mutationFn() {
      controller.current = new AbortController()
      setBytes(0)
      const saved = await load({ signal: controller.current.signal, onBytes: setBytes })
      saveFile(saved)
      toast(`${saved.name} is ready: ${formatBytes(saved.file.size)}`)
    },
    onError() {},
  })
  useEffect(() => () => controller.current?.abort(), [])
  return {
    start: () => save.mutate(),
    cancel() {
      controller.current?.abort()
      save.reset()
    },
    bytes: save.isPending ? bytes : null,
    error: controller.current?.signal.aborted ? null : save.error,
  }
}

/** The button of an export, what came of it so far, and its error. */
function ExportAction({ action, label }: { action: ReturnType<typeof useExport>; label: string }) {
  const { start, cancel, bytes, error } = action
  return (
    <div className="grid gap-3">
      {error && <FormError>{error.message}</FormError>}
      <div className="flex min-h-9 flex-wrap items-center gap-3">
        <Button variant="primary" icon={<Download size={16} />} busy={bytes !== null} onClick={start}>
          {label}
        </Button>
        {bytes !== null && <Button onClick={cancel}>Cancel</Button>}
        <p role="status" className="text-sm text-soft tabular-nums">
          {bytes !== null && (bytes > 0 ? `${formatBytes(bytes)} so far` : 'Preparing your file')}
        </p>
      </div>
    </div>
  )
}

function LinksExport({ links }: { links: number | undefined }) {
  const api = useApi()
  const [format, setFormat] = useState<LinkExportFormat>('csv')
  const action = useExport((options) => exportLinks(api, format, options))
  return (
    <Card title="Links">
      <div className="grid grid-cols-1 gap-4">
        <p className="text-soft">
          {links === undefined ? 'All links' : formatCount(links, 'link')} with short link, destination, tags,
          dates, limits, targets and click totals, archived ones too. Import the file here or in another
          Towpath to get them back.
        </p>
        <SelectField
          label="Format"
          className="max-w-80 grid-cols-1"
          value={format}
          onChange={({ target }) => setFormat(target.value as LinkExportFormat)}
          options={Object.entries(LINK_EXPORT_FORMATS)}
        />
        <ExportAction action={action} label="Export links" />
      </div>
    </Card>
  )
}

const LARGE_LINKS = 100_000
const LARGE_SUBMISSIONS = 100_000

function WorkspaceExport({ links = 0, submissions = 0 }: { links?: number; submissions?: number }) {
  const api = useApi()
  const { role } = useWorkspace()
  const action = useExport((options) => exportWorkspace(api, options))
  const isLarge = links > LARGE_LINKS || submissions > LARGE_SUBMISSIONS
  return (
    <Card title="Whole workspace">
      <div className="grid grid-cols-1 gap-4">
        <p className="text-soft">
          One zip file with everything, in formats that any program can read. Import it into an empty
          workspace, on this server or another one, and your links, forms and analytics are there.
        </p>
        <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
          <Contents title="In the file">
            <li>Links with their tags, targets, rules, split tests and totals, those in the trash too</li>
            <li>Every click with its history</li>
            <li>Forms and submissions, with their notes, attribution and outcomes</li>
            <li>Tags, domains, and channels without their secrets</li>
            <li>404s: short links that people opened and that don’t exist</li>
            <li>Saved views, and the analytics settings</li>
          </Contents>
          <Contents title="Not in the file">
            <li>Passwords of links: set them again</li>
            <li>Secrets of channels: addresses of hooks, tokens, signing secrets</li>
            <li>Proofs of domains: each one is verified again by its DNS</li>
            <li>Shared pages, reports and alerts of views</li>
            <li>Members, API keys and the audit log</li>
          </Contents>
        </div>
        <p className="rounded-lg bg-warn-tint px-3 py-2 text-sm">
          The file contains personal data, such as submissions. Store it where no one else can read it.
        </p>
        {isLarge && (
          <p className="text-sm text-soft">
            This workspace is large: the file may have several gigabytes, and take some minutes. Your browser
            needs that much free disk space.
          </p>
        )}
        {role === 'owner' ? (
          <ExportAction action={action} label="Export workspace" />
        ) : (
          <p className="text-sm text-soft">Only owners can export the whole workspace.</p>
        )}
      </div>
    </Card>
  )
}

const Contents = ({ title, children }: { title: string; children: ReactNode }) => (
  <div>
    <h3 className="mb-1 font-medium">{title}</h3>
    <ul className="grid list-disc gap-1 pl-5 text-sm text-soft">{children}</ul>
  </div>
)

function OtherExports() {
  const { id } = useWorkspace()
  const params = { workspaceId: String(id) }
  return (
    <Card title="Parts of it">
      <ul className="grid gap-2">
        <li>
          <Link to="/$workspaceId/inbox" params={params} search={{}} className="text-link">
            Submissions
          </Link>{' '}
          <span className="text-soft">of one form, as CSV, JSON or NDJSON: in the inbox, under Export.</span>
        </li>
        <li>
          <Link
            to="/$workspaceId/analytics"
            params={params}
            search={{ interval: 'all' }}
            className="text-link"
          >
            Clicks
          </Link>{' '}
          <span className="text-soft">as CSV, NDJSON or Parquet: in the analytics, under Export.</span>
        </li>
      </ul>
    </Card>
  )
}
