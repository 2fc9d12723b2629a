// The page of one form: setup, gallery, settings, page check and losses.

import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { FileQuestion, Inbox, Upload } from 'lucide-react'
import { useState } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { ApiError } from '../../api/client.ts'
import { formQuery } from '../../api/forms.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy/copy-button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { formatCount } from '../../ui/format.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { type Crumb, Page } from '../../ui/page.tsx'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { Skeleton, SkeletonRows } from '../../ui/skeleton.tsx'
import { TabLinks } from '../../ui/tab-links.tsx'
import { FormChannelsNotice, FormListeners } from '../channels/form-channels-notice.tsx'
import { FormStateBadge } from './form-list.tsx'

const LOADING = <SkeletonRows rows={4} className="h-24" />

const FormSetupTab = lazyPart(() => import('./form-setup-tab.tsx'), 'default', LOADING)
const FormGalleryTab = lazyPart(() => import('./gallery/form-gallery-tab.tsx'), 'default', LOADING)
const FormSettingsTab = lazyPart(() => import('./settings/form-settings-tab.tsx'), 'default', LOADING)
const PageCheck = lazyPart(() => import('./page-check.tsx'), 'default', LOADING)
const ImportDialog = lazyPart(() => import('./import-submissions-dialog.tsx'), 'default')
const LossReport = lazyPart(() => import('./loss-report.tsx'), 'default', LOADING)

const FORMS: Crumb[] = [{ label: 'Forms', to: '/$workspaceId/forms' }]
const TABS = [
  { id: 'setup', label: 'Setup', Tab: FormSetupTab },
  { id: 'gallery', label: 'Gallery', Tab: FormGalleryTab },
  { id: 'settings', label: 'Settings', Tab: FormSettingsTab },
  { id: 'doctor', label: 'Page check', Tab: PageCheck },
  { id: 'losses', label: 'Submission report', Tab: LossReport },
]

export function FormPage() {
  const api = useApi()
  const { formKey } = useParams({ from: '/$workspaceId/forms/$formKey' })
  const form = useQuery(formQuery(api, formKey))
  if (form.data) return <LoadedForm form={form.data} />
  if (form.error instanceof ApiError && form.error.status === 404) return <NoForm />
  return (
    <Page
      title="Form"
      breadcrumb={FORMS}
      heading={<Skeleton className="h-8 w-48" />}
      description={<Skeleton className="h-5 w-72" />}
    >
      {form.isError ? (
        <ErrorState error={form.error} retry={() => void form.refetch()} />
      ) : (
        <SkeletonRows rows={5} />
      )}
    </Page>
  )
}

function LoadedForm({ form }: { form: FormResource }) {
  const params = useParams({ from: '/$workspaceId/forms/$formKey' })
  const { tab } = useSearch({ from: '/$workspaceId/forms/$formKey' })
  const canEdit = useCanEdit()
  const [isImporting, setImporting] = useState(false)
  const current = TABS.find(({ id }) => id === tab) ?? TABS[0]
  const to = '/$workspaceId/forms/$formKey' as const
  if (!current) return null
  return (
    <Page
      title={form.name}
      breadcrumb={FORMS}
      heading={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="min-w-0 break-words">{form.name}</span>
          <span className="text-base font-normal tracking-normal">
            <FormStateBadge form={form} />
          </span>
        </span>
      }
      description={<Summary form={form} />}
      actions={
        <>
          {canEdit && (
            <Button icon={<Upload size={16} />} onClick={() => setImporting(true)}>
              <span aria-hidden className="sm:hidden">
                Import
              </span>
              <span className="max-sm:sr-only">Import submissions</span>
            </Button>
          )}
          <ButtonLink
            icon={<Inbox size={16} />}
            to="/$workspaceId/inbox"
            params={{ workspaceId: params.workspaceId }}
            search={{ formKey: form.formKey }}
          >
            {formatCount(form.submissions, 'submission')}
          </ButtonLink>
        </>
      }
    >
      <FormChannelsNotice channelIds={form.channelIds} />
      <TabLinks
        label="Form"
        className="mb-5"
        current={current.id}
        tabs={TABS.map(({ id, label }) => ({
          id,
          label,
          link: { to, params, search: id === 'setup' ? {} : { tab: id } },
        }))}
      />
      <current.Tab key={form.formKey} form={form} />
      {isImporting && <ImportDialog formKey={form.formKey} onClose={() => setImporting(false)} />}
    </Page>
  )
}

const Summary = ({ form }: { form: FormResource }) => (
  <span className="flex min-w-0 flex-wrap items-center gap-x-3">
    <span className="flex min-w-0 items-center">
      <code className="truncate">{form.endpoint}</code>
      <CopyButton text={form.endpoint} label="Copy endpoint" />
    </span>
    <span className="text-sm">
      {form.lastSubmissionAt ? (
        <>
          Last submission <RelativeTime at={form.lastSubmissionAt} />
        </>
      ) : (
        'No submissions yet'
      )}
    </span>
    <span className="basis-full text-sm">
      <FormListeners form={form} />
    </span>
  </span>
)

function NoForm() {
  const { workspaceId } = useParams({ from: '/$workspaceId/forms/$formKey' })
  return (
    <Page title="Form not found">
      <EmptyState
        icon={FileQuestion}
        title="This form doesn’t exist"
        action={
          <ButtonLink to="/$workspaceId/forms" params={{ workspaceId }} search={{}}>
            All forms
          </ButtonLink>
        }
      >
        It was deleted, or it belongs to another workspace.
      </EmptyState>
    </Page>
  )
}
