// All forms of the workspace: what came in by each, and when it last did.

import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { FileText, Plus } from 'lucide-react'
import { lazy, Suspense, useMemo } from 'react'
import { formsQuery } from '../../api/forms.ts'
import { useApi, useWorkspace } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { formatCount } from '../../ui/format.ts'
import { Page } from '../../ui/page.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { FormList } from './form-list.tsx'

const CreateFormDialog = lazy(() => import('./create-form-dialog.tsx'))

/** What comes in counts up while one looks at it. */
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: `open` says the same as long as the workspace is the same
  useShortcuts(useMemo(() => [{ keys: 'n', label: 'New form', run: () => open(true) }], [id]))
  const create = (
    <Button look="primary" icon={<Plus size={16} />} onClick={() => open(true)}>
      New form
    </Button>
  )
  return (
    <Page
      title="Forms"
      description={all && all.length > 0 ? formatCount(forms.data?.pages[0]?.total ?? 0, 'form') : undefined}
      actions={create}
    >
      {forms.isPending && <SkeletonRows rows={5} className="h-16" />}
      {forms.isError && !all && <ErrorState error={forms.error} retry={() => void forms.refetch()} />}
      {all?.length === 0 && <NoForms action={create} />}
      {all && all.length > 0 && <FormList forms={all} />}
      {forms.hasNextPage && (
        <div className="mt-4 text-center">
          <Button busy={forms.isFetchingNextPage} onClick={() => void forms.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
      <Suspense>{search.new !== undefined && <CreateFormDialog onClose={() => open(false)} />}</Suspense>
    </Page>
  )
}

const NoForms = ({ action }: { action: React.ReactNode }) => (
  <EmptyState icon={<FileText size={32} />} title="No forms yet" action={action}>
    A form here is an address that your own HTML form posts to. What people send is kept in the inbox, with
    the link and the campaign that brought them. No server code, and it works without JavaScript too.
  </EmptyState>
)
