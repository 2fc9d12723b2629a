// The tab "Import": a new import, the list of earlier ones, and the import of outcomes.

import { useCanEdit } from '../../shell/use-workspace.ts'
import { ImportList } from './import-list.tsx'
import { NewImport } from './new/new-import.tsx'
import { OutcomeImportCard } from './outcome-import.tsx'

export function ImportTab() {
  const canEdit = useCanEdit()
  return (
    <div className="grid grid-cols-1 gap-6">
      {canEdit ? (
        <NewImport />
      ) : (
        <p className="rounded-2xl border border-line bg-card p-5">
          Members and owners of the workspace can import. You can see what they have imported, and export
          links.
        </p>
      )}
      <ImportList />
      {canEdit && <OutcomeImportCard />}
    </div>
  )
}
