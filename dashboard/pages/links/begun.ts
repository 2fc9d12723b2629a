// Whether a workspace is past its first steps: kept in the browser, so that nobody is asked again.

const key = (workspaceId: number) => `towpath.begun.${workspaceId}`

export const hasBegun = (workspaceId: number) => localStorage.getItem(key(workspaceId)) !== null
export const rememberBegun = (workspaceId: number) => localStorage.setItem(key(workspaceId), '1')
