// One part of the code: what goes on inside of a run.

export { ActorsPage } from "./actors/ActorsPage";
export { LogsPage } from "./logs/LogsPage";
export { ModelPage } from "./model/ModelPage";
export { ProfilePage } from "./profile/ProfilePage";
export { RoundsPage } from "./rounds/RoundsPage";
export { RunPage } from "./run/RunPage";
