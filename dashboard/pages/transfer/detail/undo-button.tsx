// Undoes an import. The dialog says what goes and what stays.

import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type ImportResource, importQuery, undoImport } from '../../../api/transfer/imports.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { focusIfLost } from '../../../ui/focus.ts'
import { formatCount } from '../../../ui/format.ts'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { countItems } from '../import-state.ts'

export function UndoButton({ item }: { item: ImportResource }) {
  const api = useApi()
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  async function undo() {
    const undone = await undoImport(api, item.id)
    client.setQueryData(importQuery(api, item.id).queryKey, undone)
    // The import that is undone goes on with its own polling.
    void client.invalidateQueries({ queryKey: [api.workspaceId] })
    focusIfLost('#main')
  }
  return (
    <>
      <Button onClick={() => setOpen(true)}>Undo</Button>
      <ConfirmDialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title="Undo this import?"
        action="Undo the import"
        onConfirm={undo}
      >
        <p className="font-medium">This goes, for good:</p>
        <ul className="grid list-disc gap-1 pl-5">
          <li>
            What it created and nobody has changed since: {countItems(item, item.created)} at most. The short
            links stop working at once, and other links can take them.
          </li>
          {item.clicks > 0 && (
            <li>The click history that it brought: {formatCount(item.clicks, 'click')} at most.</li>
          )}
        </ul>
        <p className="font-medium">This stays:</p>
        <ul className="grid list-disc gap-1 pl-5">
          <li>Items that someone has changed since, because that work would be lost.</li>
          <li>Links that brought leads, because submissions refer to them.</li>
          <li>Everything from before the import, and the items that it skipped.</li>
        </ul>
        <p className="text-soft">The result lists what stayed. You can import the file again.</p>
      </ConfirmDialog>
    </>
  )
}
