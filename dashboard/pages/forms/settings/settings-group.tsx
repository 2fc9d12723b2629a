// One box of a form's settings, and the links to the pages of the settings.

import { CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Card } from '../../../ui/card.tsx'
import { TabLinks } from '../../../ui/tab-links.tsx'
import { GROUPS, type GroupId, listPagesOf, type PageId, SETTINGS_PAGES } from './form-draft.ts'

/** @param error about the group as a whole */
export function SettingsGroup({ id, error, children }: { id: GroupId; error?: string; children: ReactNode }) {
  return (
    <div id={id}>
      <Card title={GROUPS.find((group) => group.id === id)?.title}>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          {error && (
            <p
              role="alert"
              tabIndex={-1}
              className="rounded-lg border border-danger bg-danger-tint px-3 py-2 text-sm"
            >
              {error}
            </p>
          )}
          {children}
        </div>
      </Card>
    </div>
  )
}

interface PageLinksProps {
  params: { workspaceId: string; formKey: string }
  current: PageId
  errors: Record<string, string>
  /** The names of the settings that are not saved yet. */
  changed: string[]
}

/** A column beside the settings; on narrow windows one line above them. It marks errors and unsaved changes. */
export function SettingsPageLinks({ params, current, errors, changed }: PageLinksProps) {
  const withErrors = listPagesOf(Object.keys(errors))
  const withChanges = listPagesOf(changed)
  return (
    <TabLinks
      label="Settings of the form"
      side
      current={current}
      tabs={SETTINGS_PAGES.map(({ id, title }) => ({
        id,
        label: title,
        extra: withErrors.includes(id) ? <ErrorMark /> : withChanges.includes(id) && <UnsavedMark />,
        link: {
          to: '/$workspaceId/forms/$formKey',
          params,
          search: { tab: 'settings', ...(id !== SETTINGS_PAGES[0].id && { page: id }) },
        },
      }))}
    />
  )
}

const ErrorMark = () => (
  <span className="ml-auto text-danger">
    <CircleAlert size={14} aria-hidden />
    <span className="sr-only">: has an error</span>
  </span>
)

const UnsavedMark = () => (
  <span className="ml-auto">
    <span aria-hidden className="block size-1.5 rounded-full bg-accent" />
    <span className="sr-only">: has unsaved changes</span>
  </span>
)
