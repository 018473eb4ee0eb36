// One part of the code: theorems and search trees.

export { TreesPage } from "../file/TreesPage";
export { TheoremPage } from "./theorems/TheoremPage";
export { TheoremsPage } from "./theorems/TheoremsPage";
export { TreePage } from "./tree/TreePage";
