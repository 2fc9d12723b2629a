// Forms and submissions over REST (contract §6).

import { newApi } from '../accounts/guard.ts'

export interface FormsApiNeeds {
  /** `https://go.example`, before `/f/{formKey}`. */
  origin: string
  now: () => number
  /** Decides what is still undecided about recent submissions of a workspace, so that an answer shows it. */
  settleAttribution: (workspaceId: number) => Promise<void>
}

export function formsApi(_needs: FormsApiNeeds) {
  return newApi()
}
