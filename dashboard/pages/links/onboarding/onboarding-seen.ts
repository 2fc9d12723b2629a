// Remembers in the browser that a workspace has finished its onboarding, so that the checklist does not appear again.

const key = (workspaceId: number) => `towpath.begun.${workspaceId}`

export const hasSeenOnboarding = (workspaceId: number) => localStorage.getItem(key(workspaceId)) !== null
export const markOnboardingSeen = (workspaceId: number) => localStorage.setItem(key(workspaceId), '1')
