// The list of the workspace's forms.

import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { FileText, Plus } from 'lucide-react'
import { useMemo } from 'react'
import { formsQuery } from '../../api/forms.ts'
import { useApi, useCanEdit, useWorkspace } from '../../shell/use-workspace.ts'
import { ViewerDialog } from '../../shell/viewer.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { formatCount } from '../../ui/format.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Page } from '../../ui/page.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { ShowMore } from '../../ui/show-more.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { FormList } from './form-list.tsx'

const CreateFormDialog = lazyPart(() => import('./create-form-dialog.tsx'), 'default')

/** Submission counts are refreshed while the page is open. */
const REFRESH_MS = 10_000

export function FormsPage() {
  const api = useApi()
  const { id } = useWorkspace()
  const navigate = useNavigate()
  const search = useSearch({ from: '/$workspaceId/forms' })
  const forms = useInfiniteQuery({ ...formsQuery(api), refetchInterval: REFRESH_MS })
  const all = useMemo(() => forms.data?.pages.flatMap((page) => page.data), [forms.data])
  const open = (isNew: boolean) =>
    void navigate({
      to: '/$workspaceId/forms',
      params: { workspaceId: String(id) },
      search: isNew ? { new: '1' } : {},
      replace: true,
    })
  // biome-ignore lint/correctness/useExhaustiveDependencies: `open` depends only on the workspace
  useShortcuts(useMemo(() => [{ keys: 'n', label: 'New form', changes: true, run: () => open(true) }], [id]))
  const canEdit = useCanEdit()
  const create = canEdit && (
    <Button variant="primary" icon={<Plus size={16} />} onClick={() => open(true)}>
      New form
    </Button>
  )
  return (
    <Page
      title="Forms"
      description={all && all.length > 0 ? formatCount(forms.data?.pages[0]?.total ?? 0, 'form') : undefined}
      actions={all?.length !== 0 && create}
    >
      {forms.isPending && <SkeletonRows rows={5} className="h-16" />}
      {forms.isError && !all && <ErrorState error={forms.error} retry={() => void forms.refetch()} />}
      {all?.length === 0 && <NoForms action={create} />}
      {all && all.length > 0 && <FormList forms={all} />}
      <ShowMore query={forms} className="mt-4 text-center" />
      {search.new !== undefined && !canEdit && <ViewerDialog onClose={() => open(false)} />}
      {search.new !== undefined && canEdit && <CreateFormDialog onClose={() => open(false)} />}
    </Page>
  )
}

const NoForms = ({ action }: { action: React.ReactNode }) => (
  <EmptyState icon={FileText} title="No forms yet" action={action}>
    A form gives you an endpoint that your own HTML form posts to. Submissions arrive in the inbox, with the
    link and the campaign that brought them. You need no server code, and no JavaScript.
  </EmptyState>
)
