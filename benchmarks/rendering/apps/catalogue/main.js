import { createApp } from "vue";
import Catalogue from "./Catalogue.vue";

createApp(Catalogue).mount("#catalogue");
