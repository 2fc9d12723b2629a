// Whether a workspace is past its first steps: kept in the browser, so that nobody is asked again.

const key = (workspaceId: number) => `towpath.begun.${workspaceId}`

export const hasSeenOnboarding = (workspaceId: number) => localStorage.getItem(key(workspaceId)) !== null
export const markOnboardingSeen = (workspaceId: number) => localStorage.setItem(key(workspaceId), '1')
